"""Parts in memory and on disk: the same atlas, whatever was interrupted, cut short or repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.atlas import build_atlas
from core.atlas.engine import Chunk, MemoryStore, Row, atlas_of, chunks_of, walk
from core.atlas.engine.constants import HeadConstants, find_constants
from core.atlas.engine.folder import (
    FolderStore,
    ForeignFileError,
    ShardsError,
    open_folder,
    remove_folder,
)
from core.atlas.engine.sums import Sums, sampled_numbers
from core.vocabulary import STAGES
from tests.atlas.corpora import corpus_of, trace_part
from tests.atlas.files import assert_same
from tests.server import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from core.model.trace import Trace

LENGTHS = (7, 3, 12, 7, 1, 9, 4, 4, 30, 2)
SUMMED = 1e-9  # of the best c, a number on a continuous scale: sums are added in another order
LABELS = tuple("ab"[n % 2] for n in range(len(LENGTHS)))
PART_TOKENS = 16


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return corpus_of(LENGTHS, causal=True, window=3)


def text_of(trace: Trace) -> str:
    return " ".join(token.text for token in trace.tokens if not token.special)


def rows_of(traces: list[Trace]) -> Iterator[Row]:
    for number, trace in enumerate(traces):
        yield Row(number, len(trace.tokens), text_of(trace), LABELS[number])


def tracer(traces: list[Trace], ran: list[int]) -> Callable[[Chunk], Iterable[tuple[int, Trace]]]:
    """The longest sentence of a piece first, as no walk has to keep their order."""

    def traces_of(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        for row in sorted(chunk.rows, key=lambda row: -row.tokens):
            ran.append(row.number)
            yield row.number, traces[row.number]

    return traces_of


def numbers_of(chunk: Chunk) -> list[int]:
    return [row.number for row in chunk.rows]


def store_all(store: FolderStore | MemoryStore, traces: list[Trace]) -> Sums:
    sums = walk(chunks_of(rows_of(traces), PART_TOKENS), tracer(traces, []), store)
    assert sums is not None
    return sums


def constants_of(store: FolderStore, sums: Sums) -> HeadConstants:
    return find_constants(sums, store.sample(sampled_numbers(sums.candidates)))


def test_pieces_are_consecutive_and_known_before_what_follows_is_read(traces: list[Trace]) -> None:
    read: list[int] = []

    def reading() -> Iterator[Row]:
        for row in rows_of(traces):
            read.append(row.number)
            yield row

    chunks = chunks_of(reading(), PART_TOKENS)
    first = next(chunks)
    assert (numbers_of(first), read) == ([0, 1], [0, 1, 2])
    rest = list(chunks)
    assert [numbers_of(chunk) for chunk in rest] == [[2], [3, 4], [5, 6], [7], [8], [9]]
    assert [chunk.index for chunk in rest] == [1, 2, 3, 4, 5, 6]
    assert first.rows == tuple(rows_of(traces[:2]))


def test_an_atlas_of_many_parts_is_that_of_one(traces: list[Trace]) -> None:
    texts = [text_of(trace) for trace in traces]
    one = build_atlas(traces, texts, LABELS)
    store = MemoryStore()
    store_all(store, traces)
    assert len(store.parts) == 7
    many = atlas_of(store)
    assert (many.sentences, many.labels, many.tokens.texts) == (
        tuple(texts),
        LABELS,
        one.tokens.texts,
    )
    assert sorted(many.masks) == sorted(one.masks)
    assert many.vectors is not None
    assert one.vectors is not None
    np.testing.assert_array_equal(many.vectors.kv_keys, one.vectors.kv_keys)
    for stage in STAGES:
        scale = np.abs(one.points[stage]).max()
        np.testing.assert_allclose(many.points[stage], one.points[stage], atol=1e-6 * scale)
        ours, theirs = many.faithfulness[stage], one.faithfulness[stage]
        np.testing.assert_allclose(ours.correlation, theirs.correlation, atol=1e-6)
        assert (ours.top1 == theirs.top1).all()
    np.testing.assert_allclose(many.c, one.c, rtol=SUMMED)


def test_parts_written_in_any_order_by_anyone_give_the_same_constants(
    traces: list[Trace], tmp_path: Path
) -> None:
    whole = build_atlas(traces)
    chunks = list(chunks_of(rows_of(traces), PART_TOKENS))
    for name, order in (("a", [6, 2, 0, 5, 1, 4, 3]), ("b", [3, 3, 1, 0, 2, 6, 5, 4, 1])):
        folder = tmp_path / name
        folder.mkdir()
        for index in order:  # each by a writer of its own, some twice
            chunk = chunks[index]
            texts = {row.number: row.text for row in chunk.rows}
            part = trace_part(index, tracer(traces, [])(chunk), texts)
            FolderStore(folder).put(index, part)
        store = FolderStore(folder)
        ran: list[int] = []
        sums = walk(chunks, tracer(traces, ran), store)
        assert ran == []
        assert sums is not None
        constants = constants_of(store, sums)
        np.testing.assert_allclose(constants.c, whole.c, rtol=SUMMED)
        for stage in STAGES:
            np.testing.assert_allclose(constants.shares[stage], whole.shares[stage], atol=1e-9)
            found = constants.faithfulness[stage].correlation
            np.testing.assert_allclose(found, whole.faithfulness[stage].correlation, atol=1e-6)


def test_a_part_comes_back_from_the_disk_as_it_was(traces: list[Trace], tmp_path: Path) -> None:
    given = {0: "w0x0 \ud83d half", 2: "the third"}  # half of a surrogate pair
    part = trace_part(5, [(2, traces[2]), (0, traces[0])], given)
    assert part is not None
    store = FolderStore(tmp_path)
    store.put(5, part)
    found = store.part(5)
    assert found is not None
    assert found.texts.sentences[0] == "w0x0 \ufffd half"  # which has no UTF-8
    kept = replace(part.texts, sentences=found.texts.sentences)
    assert_same(replace(found, vectors=part.vectors, masks={}), replace(part, texts=kept, masks={}))
    np.testing.assert_array_equal(found.vectors.queries, part.vectors.queries)
    np.testing.assert_array_equal(found.vectors.kv_keys, part.vectors.kv_keys)
    assert sorted(found.masks) == [0, 2]
    for number, trace in ((0, traces[0]), (2, traces[2])):
        for layer in range(2):
            rule = trace.layers[layer]
            assert rule.mask is not None
            np.testing.assert_array_equal(found.masks[number][layer][0], np.isfinite(rule.mask))
    assert store.indices == [5]


def test_a_part_without_a_sentence_is_finished_too(traces: list[Trace], tmp_path: Path) -> None:
    """As where a text has nothing but special tokens."""
    store = FolderStore(tmp_path)
    empty = Chunk(0, (Row(0, 3, "[SEP]"),))
    full = Chunk(1, (Row(1, 3, text_of(traces[1])),))

    def traces_of(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        return iter([(1, traces[1])] if 1 in numbers_of(chunk) else [])

    assert walk([empty], traces_of, store) is None
    assert store.finished(0)
    assert store.part(0) is None
    sums = walk([empty, full], traces_of, store)
    assert sums is not None
    assert sums.tokens == 3
    assert constants_of(store, sums).measured.tokens == 3


@pytest.mark.parametrize("left", [0, 7, 500, -1])
def test_a_part_that_was_cut_short_is_made_again(
    left: int, traces: list[Trace], tmp_path: Path
) -> None:
    store = FolderStore(tmp_path)
    store_all(store, traces)
    path = store.path(2)
    content = path.read_bytes()
    path.write_bytes(content[:left])
    assert [store.finished(index) for index in range(8)] == [True, True, False, *[True] * 4, False]
    ran: list[int] = []
    walk(chunks_of(rows_of(traces), PART_TOKENS), tracer(traces, ran), store)
    assert sorted(ran) == [3, 4]
    assert path.read_bytes() == content


def test_a_disk_that_is_full_leaves_the_parts_there_are(
    traces: list[Trace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(tmp_path)
    synced: list[int] = []

    def full(_: int) -> None:
        synced.append(1)
        if len(synced) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)  # the file, and its name, of each part
    with pytest.raises(OSError, match="No space left"):
        store_all(store, traces)
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000.safetensors"]
    monkeypatch.setattr(os, "fsync", lambda _: None)
    ran: list[int] = []
    walk(chunks_of(rows_of(traces), PART_TOKENS), tracer(traces, ran), store)
    assert sorted(ran) == list(range(2, len(LENGTHS)))


def test_half_precision_keeps_three_digits_and_takes_half_the_room(
    traces: list[Trace], tmp_path: Path
) -> None:
    folders = {dtype: tmp_path / dtype for dtype in ("float32", "float16")}
    for folder in folders.values():
        folder.mkdir()
    single, half = FolderStore(folders["float32"]), FolderStore(folders["float16"], "float16")
    for store in (single, half):
        store_all(store, traces)
    part, rounded = single.part(5), half.part(5)
    assert part is not None
    assert rounded is not None
    assert rounded.vectors.queries.dtype == np.float32
    largest = np.abs(part.vectors.queries).max()
    np.testing.assert_allclose(
        rounded.vectors.queries, part.vectors.queries, atol=float(largest) * 2**-11
    )
    saved = single.path(5).stat().st_size - half.path(5).stat().st_size
    half_of_vectors = part.vectors.queries.nbytes // 2 + part.vectors.kv_keys.nbytes // 2
    assert saved == pytest.approx(half_of_vectors, abs=64)  # places have fewer digits, too


def test_vectors_too_long_for_half_precision_are_refused(tmp_path: Path) -> None:
    (trace,) = corpus_of([4])
    trace.kv_keys.setflags(write=True)
    trace.kv_keys[0, 0, 0, 0] = 70_000
    part = trace_part(0, [(0, trace)])
    with pytest.raises(ValueError, match="too long for float16"):
        FolderStore(tmp_path, "float16").put(0, part)


def test_a_folder_belongs_to_one_run_and_loses_what_was_left_unfinished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    open_folder(folder, {"model": "a", "corpus": "b"})
    unfinished = folder / "part-00001.safetensors.0f.writing"
    unfinished.write_bytes(b"half")
    open_folder(folder, {"model": "a", "corpus": "b"})
    assert not unfinished.exists()
    with pytest.raises(ShardsError, match="model was 'a' and is 'c'"):
        open_folder(folder, {"model": "c", "corpus": "b"})
    remove_folder(folder)
    assert not folder.exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(ForeignFileError, match="something other"):
        open_folder(other, {"model": "a"})
    with pytest.raises(ForeignFileError, match="something other"):
        remove_folder(other)
    assert (other / "thesis.txt").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
def test_joined_vectors_are_held_in_files_and_given_back_once_read() -> None:
    """Texts are run by length and joined in the corpus's order, so memory is freed in any."""
    script = """
import random
from pathlib import Path
import numpy as np
from core.atlas.engine.shard import CorpusVectors, join_vectors
from core.model.memory import return_freed_memory
return_freed_memory()
shapes = [(6, 12, tokens, 32) for tokens in range(5, 25) for _ in range(16)]
parts = [CorpusVectors(*(np.ones(shape, np.float32) for _ in range(2))) for shape in shapes]
random.Random(0).shuffle(parts)
size = sum(each.queries.nbytes + each.kv_keys.nbytes for each in parts)
def peak():
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
joined = join_vectors(parts)
print((peak() - before) / size)
def now():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])
joined.give_back()
before = now()
for head in np.ndindex(6, 12):
    assert joined.of_head(*head)[0].all()
print((now() - before) / size)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    held, read = map(float, done.stdout.split())
    assert held < 0.2
    assert read < 0.2
