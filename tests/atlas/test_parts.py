"""Parts in memory and on disk: the same sums and atlas, however they are cut, ordered or lost."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.atlas import build_atlas
from core.atlas.blocks import MAX_PAIRS
from core.atlas.engine.build import Chunk, MemoryStore, Row, atlas_of, chunks_of, walk
from core.atlas.engine.folder import FolderStore, ShardsError, open_folder, remove_folder
from core.atlas.engine.sums import (
    SAMPLE_TOKENS,
    Candidates,
    Sums,
    add_moments,
    first_candidates,
    merge,
    moments_of,
    sampled_numbers,
)
from core.atlas.priority import priorities, take_within_budget
from core.model.trace import Trace
from tests.atlas.files import assert_same, corpus_of, trace_part
from tests.server import ROOT

LENGTHS = (7, 3, 12, 7, 1, 9, 4, 4, 30, 2)
LABELS = tuple("ab"[n % 2] for n in range(len(LENGTHS)))
PART_TOKENS = 16
# The first numbers of SplitMix64 seeded with 0, as its authors' C code prints them.
SPLITMIX = (
    *(0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F),
    *(0xF88BB8A8724C81EC, 0x1B39896A51A8749B),
)


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


def store_all(store: FolderStore | MemoryStore, traces: list[Trace], ran: list[int]) -> Sums:
    sums = walk(chunks_of(rows_of(traces), PART_TOKENS), tracer(traces, ran), store)
    assert sums is not None
    return sums


def test_sentences_come_by_published_priorities_until_the_budget_is_spent() -> None:
    """But there is one at least."""
    numbers, sizes = np.arange(5), np.array([10, 20, 30, 40, 50])
    assert priorities(numbers).tolist() == list(SPLITMIX)
    for budget, expected in ((0, [2]), (30, [2]), (79, [2]), (80, [2, 4]), (100, [2, 4, 1])):
        assert take_within_budget(numbers, sizes, budget).tolist() == expected
    assert take_within_budget(numbers, sizes, 1000).tolist() == [2, 4, 1, 0, 3]


@pytest.mark.parametrize("longest", [6, 600])
def test_a_sample_of_samples_is_the_sample_of_all(longest: int) -> None:
    """So parts may be joined in any order: what is in all's sample is in that of its part."""
    draw = np.random.default_rng(longest)
    numbers = draw.permutation(50_000)[:8_000]
    lengths = draw.integers(1, longest, numbers.size)
    whole = first_candidates(numbers, lengths)
    cuts = np.split(np.arange(numbers.size), [10, 4_000, 4_001, 7_000])
    parts = [first_candidates(numbers[cut], lengths[cut]) for cut in cuts]
    for order in (range(5), (4, 2, 0, 1, 3)):
        joined = functools.reduce(joined_candidates, [parts[i] for i in order])
        assert set(joined.numbers.tolist()) == set(whole.numbers.tolist())
    ranked = np.argsort(priorities(numbers))
    fitting = ranked[np.cumsum(lengths[ranked] ** 2) <= MAX_PAIRS]
    assert sampled_numbers(whole).tolist() == sorted(numbers[fitting].tolist())
    assert whole.lengths.sum() >= min(SAMPLE_TOKENS - longest, lengths.sum())


def joined_candidates(one: Candidates, other: Candidates) -> Candidates:
    numbers = np.concatenate([one.numbers, other.numbers])
    return first_candidates(numbers, np.concatenate([one.lengths, other.lengths]))


def test_moments_of_parts_are_those_of_all_however_far_from_the_origin_they_are() -> None:
    """A difference of sums of squares would lose all digits here."""
    draw = np.random.default_rng(0)
    vectors = (draw.normal(size=(2, 3, 400, 4)) + 1e4).astype(np.float32)
    parts = [moments_of(vectors[:, :, a:b]) for a, b in ((0, 1), (1, 150), (150, 400))]
    for joined in (
        add_moments(add_moments(parts[0], parts[1]), parts[2]),
        add_moments(parts[2], add_moments(parts[1], parts[0])),
    ):
        assert joined.count == 400
        for head in np.ndindex(2, 3):
            own = vectors[head].astype(np.float64)
            np.testing.assert_allclose(joined.mean[head], own.mean(axis=0), rtol=1e-14)
            expected = np.cov(own.T, bias=True)
            found = joined.scatter[head] / joined.count
            np.testing.assert_allclose(found, expected, atol=1e-12 * expected.max())


def test_counts_of_parts_add_up_and_those_of_none_or_of_two_models_are_refused() -> None:
    traces = *corpus_of((7, 3)), *corpus_of([4], dim=6)
    parts = [trace_part([(number, each)]) for number, each in enumerate(traces)]
    one, other, alien = (part.sums for part in parts if part is not None)
    joined = merge([replace(one, dropped=2), replace(other, dropped=3, cut_characters=4)])
    counts = joined.tokens, joined.sentences, joined.dropped, joined.cut_characters
    assert counts == (10, 2, 5, 4)
    with pytest.raises(ValueError, match="cannot be merged"):
        merge([one, alien])
    for made in (merge, build_atlas):
        with pytest.raises(ValueError, match="at least one sentence"):
            made([])


def test_pieces_are_consecutive_and_known_before_what_follows_is_read(traces: list[Trace]) -> None:
    read: list[int] = []

    def reading() -> Iterator[Row]:
        for row in rows_of(traces):
            read.append(row.number)
            yield row

    chunks = chunks_of(reading(), PART_TOKENS)
    first = next(chunks)
    assert (first.rows, read) == (tuple(rows_of(traces[:2])), [0, 1, 2])
    rest = [(chunk.index, [row.number for row in chunk.rows]) for chunk in chunks]
    assert rest == [*enumerate([[2], [3, 4], [5, 6], [7], [8], [9]], start=1)]


def test_an_atlas_of_many_parts_is_that_of_one(traces: list[Trace]) -> None:
    """Within rounding: sums are added in another order."""
    store = MemoryStore()
    store_all(store, traces, [])
    assert len(store.parts) == 7
    assert_same(atlas_of(store), build_atlas(traces, [*map(text_of, traces)], LABELS), "", 1e-6)


def test_parts_written_in_any_order_by_anyone_have_the_same_sums(
    traces: list[Trace], tmp_path: Path
) -> None:
    chunks = list(chunks_of(rows_of(traces), PART_TOKENS))
    for index in (3, 3, 1, 0, 2, 6, 5, 4, 1):  # each by a writer of its own, some twice
        texts = {row.number: row.text for row in chunks[index].rows}
        part = trace_part(tracer(traces, [])(chunks[index]), texts)
        FolderStore(tmp_path).put(index, part)
    ran: list[int] = []
    sums = store_all(FolderStore(tmp_path), traces, ran)
    assert ran == []
    assert_same(sums, store_all(MemoryStore(), traces, []), tolerance=1e-12)


def test_a_part_comes_back_from_the_disk_as_it_was(traces: list[Trace], tmp_path: Path) -> None:
    """In the order of its sentences' numbers; half of a surrogate pair has no UTF-8."""
    texts = {9: "w1x0 w1x1 cut", 40: text_of(traces[2])[:-1] + "\ud83d"}
    part = trace_part([(40, traces[2]), (9, traces[1])], texts, {9: "a", 40: "b"})
    assert part is not None
    assert part.texts.tokens.sentence.tolist() == [9] * 3 + [40] * 12
    assert (part.texts.sentences[0], part.texts.labels) == ("w1x0 w1x1", ("a", "b"))
    store = FolderStore(tmp_path)
    store.put(5, part)
    found = store.part(5)
    assert found is not None
    sentences = ("w1x0 w1x1", texts[40][:-1] + "\ufffd")
    assert_same(
        replace(found, vectors=part.vectors),
        replace(part, texts=replace(part.texts, sentences=sentences)),
    )
    for name in ("queries", "kv_keys"):
        vectors = np.concatenate([getattr(traces[number], name) for number in (1, 2)], axis=2)
        np.testing.assert_array_equal(getattr(found.vectors, name), vectors)
    assert sorted(found.masks) == [40]  # three tokens are too few for a window of three
    assert store.indices == [5]


def test_a_part_without_a_sentence_is_finished_too(traces: list[Trace], tmp_path: Path) -> None:
    """As where a text has nothing but special tokens."""
    store = FolderStore(tmp_path)
    empty = Chunk(0, (Row(0, 3, "[SEP]"),))
    full = Chunk(1, (Row(1, 3, text_of(traces[1])),))

    def traces_of(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        return iter([(1, traces[1])] if chunk is full else [])

    assert walk([empty], traces_of, store) is None
    assert store.finished(0)
    assert store.part(0) is None
    sums = walk([empty, full], traces_of, store)
    assert sums is not None
    assert sums.tokens == 3
    assert store.sample(np.array([0, 1])).lengths.tolist() == [3]


@pytest.mark.parametrize("left", [0, 500, -1])
def test_a_part_that_was_cut_short_is_made_again(
    left: int, traces: list[Trace], tmp_path: Path
) -> None:
    store, ran = FolderStore(tmp_path), list[int]()
    store_all(store, traces, [])
    path = store.path(2)
    content = path.read_bytes()
    path.write_bytes(content[:left])
    assert [store.finished(index) for index in range(8)] == [True, True, False, *[True] * 4, False]
    store_all(store, traces, ran)
    assert sorted(ran) == [3, 4]
    assert path.read_bytes() == content


def test_half_precision_keeps_three_digits_and_takes_half_the_room(
    traces: list[Trace], tmp_path: Path
) -> None:
    (tmp_path / "half").mkdir()
    single, half = FolderStore(tmp_path), FolderStore(tmp_path / "half", "float16")
    for store in (single, half):
        store_all(store, traces, [])
    part, rounded = single.part(5), half.part(5)
    assert part is not None
    assert rounded is not None
    queries = part.vectors.queries
    assert rounded.vectors.queries.dtype == np.float32
    atol = float(np.abs(queries).max()) * 2**-11
    np.testing.assert_allclose(rounded.vectors.queries, queries, atol=atol)
    saved = single.path(5).stat().st_size - half.path(5).stat().st_size
    half_of_vectors = queries.nbytes // 2 + part.vectors.kv_keys.nbytes // 2
    assert saved == pytest.approx(half_of_vectors, abs=64)  # places have fewer digits, too
    long = replace(part, vectors=replace(part.vectors, queries=1e5 * np.ones_like(queries)))
    with pytest.raises(ValueError, match="too long for float16"):
        half.put(0, long)


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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
def test_joined_vectors_are_held_in_files_and_given_back_once_read() -> None:
    """Texts are run by length and joined in the corpus's order, so memory is freed in any.

    What is held meanwhile has a bound of its own, a few texts and a head, however large the corpus.
    """
    script = """
import random
from pathlib import Path
import numpy as np
from core.atlas.engine.shard import CorpusVectors, join_vectors
from core.model.memory import return_freed_memory
return_freed_memory()
shapes = [(6, 12, tokens, 32) for tokens in range(5, 25) for _ in range(48)]
parts = [CorpusVectors(*(np.ones(shape, np.float32) for _ in range(2))) for shape in shapes]
random.Random(0).shuffle(parts)
size = sum(each.queries.nbytes + each.kv_keys.nbytes for each in parts)
def memory(name):
    return 1024 * int(Path("/proc/self/status").read_text().split(name)[1].split()[0])
before = memory("VmHWM:")
joined = join_vectors(parts)
print((memory("VmHWM:") - before) / size)
joined.give_back()
before = memory("VmRSS:")
for head in np.ndindex(6, 12):
    assert joined.of_head(*head)[0].all()
print((memory("VmRSS:") - before) / size)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    held, read = map(float, done.stdout.split())
    assert held < 0.2
    assert read < 0.2
