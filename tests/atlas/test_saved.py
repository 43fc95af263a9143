"""The folder of an atlas: exact to the bit, and read as if a stranger wrote it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from core.atlas import Atlas, build_atlas, open_large, tables
from core.atlas.data import ProjectedPart
from core.atlas.saved import ATLAS, POINTS
from core.atlas.tables import MAX_TEXT, TOKENS
from core.atlas.tables import SENTENCES as TEXTS
from core.records import RecordError, read_record, write_record
from tests.atlas.files import (
    Files,
    an_atlas,
    as_stored,
    assert_same,
    finish,
    forged,
    opened,
    part_of,
    save_atlas,
    trace,
    unpacked,
    write_folder,
    written,
)

SENTENCES = ("then she", "said the cat", "she  said", "the cat she", "said she said", "nothing")
PARTS = ((0,), (1, 2), (3,), (4, 5))  # sentences of each
TOGETHER = 12  # tokens of a group, so that it has two of these parts
Fields = dict[str, Any]


@pytest.fixture(scope="module")
def data() -> Files:
    return written(an_atlas())


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(SENTENCES)]
    return build_atlas(traces, SENTENCES, [f"label {i % 2}" for i in range(len(SENTENCES))])


@pytest.fixture
def folder(atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tables, "GROUP_TOKENS", TOGETHER)
    return write_folder(atlas, tmp_path / "large.atlas", PARTS, (0, 3))


@pytest.mark.parametrize("labelled", [True, False])
def test_an_atlas_comes_back_exact_to_the_bit(labelled: bool) -> None:
    """That of a hybrid too, whose layers keep their numbers."""
    atlas = an_atlas(labelled=labelled, causal=not labelled)
    if labelled:
        atlas = replace(atlas, layer_numbers=(3, 6), depth=8)
    odd = atlas.faithfulness["raw"].correlation
    odd[0, 0], odd[0, 1], odd[1, 2] = np.nan, -0.0, 5e-324
    atlas.points["raw"][0, 0, 0] = np.array([-0.0, 1e-45, 3e38], dtype=np.float32)
    found = opened(written(atlas))
    assert found.vectors is None
    assert_same(found, as_stored(atlas))
    assert written(atlas) == written(atlas)
    arrays, about = unpacked(written(atlas)[ATLAS])
    assert (about["format"], about["version"]) == ("headscope", 4)
    assert about["content"]["settings"] == {"tokens_cut": 3, "corpus": "a “file”.csv"}
    assert (arrays["c"] == atlas.c).all()


def test_what_could_not_be_opened_is_not_written(tmp_path: Path) -> None:
    """Points that are no numbers, more heads than a page draws, or parts that are not all."""
    atlas = an_atlas()
    atlas.points["raw"][1, 2, 0, 0] = np.nan
    with pytest.raises(RecordError, match=r"“points\.raw” has numbers that are not finite"):
        save_atlas(atlas, tmp_path / "x.atlas")
    with pytest.raises(RecordError, match="not finite"):
        write_record(part_of(atlas, (0,))[1], tmp_path / "points")
    norms, c = np.repeat(atlas.norms, 700, axis=1), np.repeat(atlas.c, 700, axis=1)
    with pytest.raises(RecordError, match="too large to open: it has 4,200 heads"):
        written(replace(atlas, norms=norms, c=c))
    with pytest.raises(RecordError, match="not of all tokens"):
        finish(an_atlas(), tmp_path, [(0, 1), (2,)])
    with pytest.raises(RecordError, match=r"lacks “atlas\.safetensors”"):
        open_large(tmp_path)


def numbers(content: Fields, layers: list[Any], depth: int | None = 8) -> None:
    """Say which layers these are."""
    content.update(layer_numbers=layers, depth=depth)


def text_of(arrays: Fields, name: str, first: bytes) -> None:
    """The first of a list of texts is another."""
    ends = arrays[f"{name}.ends"]
    rest = arrays[name][ends[0] :].tobytes()
    arrays[name] = np.frombuffer(first + rest, np.uint8)
    arrays[f"{name}.ends"] = ends - ends[0] + len(first)


def filled(name: str, number: float) -> Callable[[Fields, Fields], object]:
    return lambda arrays, _: arrays[name].__setitem__(..., number)


CHANGES: dict[str, tuple[Callable[[Fields, Fields], object], str]] = {
    "no name": (lambda _, c: c.update(model=""), "does not name a model"),
    "no stage": (lambda _, c: c["points"].pop("translated"), "no such record|stage"),
    "a stage that there is not": (lambda _, c: c["points"].update(cooked="points.raw"), "points"),
    "tokens cut below zero": (lambda _, c: c["settings"].update(tokens_cut=-1), "tokens_cut"),
    "tokens cut in words": (lambda _, c: c["settings"].update(tokens_cut="1"), "tokens_cut"),
    "a corpus of less": (lambda _, c: c["settings"].update(corpus_tokens=3), "more tokens"),
    "many settings": (lambda _, c: c["settings"].update({str(i): i for i in range(200)}), "202"),
    "a long setting": (lambda _, c: c["settings"].update(a="x" * 2000), "too long"),
    "measured on more than all": (lambda _, c: c["measured"].update(tokens=10**6), "measured"),
    "numbers of other layers": (lambda _, c: numbers(c, [2, 4, 6]), "layer_numbers"),
    "layers that go back": (lambda _, c: numbers(c, [4, 2]), "layer_numbers"),
    "layers before the first": (lambda _, c: numbers(c, [0, 1]), "layer_numbers"),
    "layers beyond the last": (lambda _, c: numbers(c, [3, 9]), "layer_numbers"),
    "a model of a million layers": (lambda _, c: numbers(c, [1, 2], 10**6), "layer_numbers"),
    "numbers without a depth": (lambda _, c: numbers(c, [3, 6], None), "layer_numbers"),
    "rules, which no file has": (lambda _, c: c.update(rules=[{"scaling": 1, "mask": None}]), "no"),
    "fewer labels": (lambda _, c: c.update(labels="sentences"), "labels|no such record"),
    "a share of two": (filled("shares.raw", 2), "shares.raw"),
    "a correlation of seven": (filled("faithfulness.raw.correlation", 7), "correlation"),
    "a baseline of two": (filled("measured.top1", 2), "measured.top1"),
    "no constant": (filled("c", 0), "“c”"),
    "a point that is no number": (filled("points.raw", np.nan), "not finite"),
    "an endless length": (filled("norms", np.inf), "not finite"),
    "a length below zero": (filled("norms", -1), "“norms”"),
    "sentences without the first": (filled("tokens.sentence", 2), "order"),
    "sentences below zero": (filled("tokens.sentence", -1), "tokens.sentence"),
    "sentences with a gap": (lambda a, _: a["tokens.sentence"].__setitem__(-1, 9), "order"),
    "positions of nowhere": (filled("tokens.position", 7), "order"),
    "words of nowhere": (filled("tokens.word", 99), "“word”"),
    "words below none": (filled("tokens.word", -2), "tokens.word"),
    "spans below zero": (filled("tokens.spans", -1), "tokens.spans"),
    "spans beyond the end": (filled("tokens.spans", 1000), "beyond their sentence"),
    "spans backwards": (lambda a, _: a["tokens.spans"][1].__setitem__(0, 99), "end before"),
    "a token of a page": (lambda a, _: text_of(a, "tokens.texts", b"x" * 999), "longer than any"),
    "a sentence of pages": (lambda a, _: text_of(a, "sentences", b"x" * 9999), "than its tokens"),
    "a sentence too short": (lambda a, _: text_of(a, "sentences", b"Oh,"), "beyond their sent"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_no_atlas_is_is_refused(name: str, data: Files) -> None:
    change, message = CHANGES[name]
    opened(forged(data, lambda *_: None))  # as it was, it opens
    with pytest.raises(RecordError, match=message) as refused:
        opened(forged(data, change))
    assert len(str(refused.value)) < 300


def test_pandas_reads_the_texts_and_parts_are_records(atlas: Atlas, folder: Path) -> None:
    sentences = pd.read_parquet(folder / "sentences.parquet")
    assert tuple(sentences["text"]) == SENTENCES
    assert sentences["sentence"].tolist() == list(range(len(SENTENCES)))
    assert tuple(sentences["label"]) == atlas.labels
    tokens = pd.read_parquet(folder / "tokens.parquet")
    assert tuple(tokens["token"]) == atlas.tokens.texts
    assert tokens["position"].tolist() == atlas.tokens.position.tolist()
    assert tokens["special"].tolist() == [text == "[CLS]" for text in tokens["display"]]
    for row in tokens[~tokens["special"]].to_dict("records"):
        assert SENTENCES[row["sentence"]][row["start"] : row["end"]] == row["display"]
    for index, own in enumerate(PARTS):
        part = read_record(ProjectedPart, folder / POINTS.format(index))
        assert_same(part, part_of(atlas, own)[1])


@pytest.mark.parametrize("name", [ATLAS, "tokens.parquet", "sentences.parquet"])
def test_files_that_are_missing_empty_or_links_are_refused(
    name: str, folder: Path, tmp_path: Path
) -> None:
    """Links could show what is elsewhere on the server; a pipe would never end."""
    path, secret = folder / name, tmp_path / "secret"
    open_large(folder)  # as it was, it opens
    shutil.copy(path, secret)
    path.write_bytes(b"")
    with pytest.raises(RecordError, match="damaged"):
        open_large(folder)
    path.unlink()
    with pytest.raises(RecordError, match=f"lacks “{name}”"):
        open_large(folder)
    path.symlink_to(secret)
    with pytest.raises(RecordError, match=name):
        open_large(folder)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RecordError, match=name):
        open_large(folder)


def test_a_link_a_file_or_an_earlier_version_is_refused(folder: Path, tmp_path: Path) -> None:
    link, file = tmp_path / "link.atlas", tmp_path / "file.atlas"
    link.symlink_to(folder, target_is_directory=True)
    file.write_bytes(b"")
    for path in (link, file):
        with pytest.raises(RecordError, match="folder of its own"):
            open_large(path)
    (folder / "atlas.json").write_text('{"format": "headscope-atlas", "version": 3}')
    with pytest.raises(RecordError, match="build it again"):
        open_large(folder)


WORD = "ก" * 900  # as Thai has it: no blank in a whole line, and no entry in a vocabulary


def test_long_tokens_labels_and_sentences_are_cut_and_open_again() -> None:
    """A sentence of n tokens has at most 400 n characters, and no span ends beyond it."""
    texts = (f"from {WORD} to", "short and sweet", WORD * 2)
    labels = ("x" * 300, "y" * 200, "")
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(texts)]
    found = opened(written(build_atlas(traces, texts, labels)))
    lengths = [len(shown) for shown in (*found.tokens.texts, *found.tokens.displays)]
    assert max(lengths) == MAX_TEXT == 200
    assert found.tokens.displays[:3] == ("[CLS]", "from", WORD[:199] + "…")
    assert found.labels == ("x" * 199 + "…", "y" * 200, "")
    assert found.sentences == (texts[0], texts[1], WORD[:800])
    assert found.tokens.spans[-1].tolist() == [0, 800]


def test_no_phrase_goes_from_one_sentence_to_the_next(atlas: Atlas, folder: Path) -> None:
    """In one part, from part to part, and from group to group of a bounded size."""
    large = open_large(folder)
    counts = [group.count for group in large.groups]
    assert (sum(counts), sum(group.rows for group in large.groups)) == (21, len(SENTENCES))
    assert 1 < len(counts) < len(PARTS)
    assert max(counts) <= TOGETHER
    found = large.search("she said", "phrase")
    assert set(atlas.tokens.sentence[found.indices].tolist()) == {2, 4}
    assert (found.count, found.sentences) == (2, 2)
    for query, count in (("cat she", 1), ("said the", 1), ("said nothing", 0)):
        assert large.search(query, "phrase").count == count
    table = large.table(large.search("sai", "substring"), 2)
    assert table["token"].tolist() == ["said", "said"]
    assert table[["position", "sentence"]].to_numpy().tolist() == [[2, 2], [4, 3]]
    assert table["text"].tolist() == ["said the cat", "she  said"]


def test_what_an_earlier_writer_left_is_replaced_or_removed(atlas: Atlas, folder: Path) -> None:
    left = folder / "tokens.parquet.0a1b2c3d.writing"
    left.write_bytes(b"half")
    finish(atlas, folder, PARTS)
    assert not left.exists()
    assert open_large(folder).search("she").count == 4


def rewritten(
    folder: Path,
    name: str,
    change: Callable[[pa.Table], pa.Table],
    *,
    everywhere: bool = False,
    **how: Any,
) -> None:
    """A table of the folder is another: its first group, or all."""
    file = pq.ParquetFile(folder / name)
    groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
    file.close()
    groups = [change(each) if each is groups[0] or everywhere else each for each in groups]
    how = {"compression": "none", "use_dictionary": ["token", "display"], **how}
    with pq.ParquetWriter(folder / name, groups[0].schema, **how) as writer:
        for each in groups:
            writer.write_table(each.cast(groups[0].schema))


def put(name: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    """The first entry of a column is another."""

    def change(table: pa.Table) -> pa.Table:
        place, column = table.column_names.index(name), table.column(name)
        changed = pa.array([value, *column.to_pylist()[1:]], column.type)
        return table.set_column(place, table.schema.field(name), changed)

    return change


def cast(name: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.column_names.index(name)
        return table.set_column(place, name, pc.cast(table.column(name), kind, safe=False))

    return change


def same(table: pa.Table) -> pa.Table:
    return table


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda f: (f / TOKENS).write_bytes((f / TOKENS).read_bytes()[:-1]),
    "empty": lambda f: (f / TOKENS).write_bytes(b""),
    "texts of noise": lambda f: (f / TEXTS).write_bytes(b"PAR1" * 99),
    "a token less": lambda f: rewritten(f, TOKENS, lambda t: t.slice(1)),
    "a sentence less": lambda f: rewritten(f, TEXTS, lambda t: t.slice(1)),
    "a column less": lambda f: rewritten(
        f, TOKENS, lambda t: t.drop_columns(["display", "word"]), everywhere=True
    ),
    "a column more": lambda f: rewritten(
        f, TOKENS, lambda t: t.append_column("x", t["word"]), everywhere=True
    ),
    "spans as floats": lambda f: rewritten(f, TOKENS, cast("start", pa.float32())),
    "special as numbers": lambda f: rewritten(f, TOKENS, cast("special", pa.int32())),
    "words as bytes": lambda f: rewritten(f, TOKENS, cast("token", pa.binary())),
    "a word that is missing": lambda f: rewritten(f, TOKENS, put("token", None)),
    "a special that is missing": lambda f: rewritten(f, TOKENS, put("special", None)),
    "tokens that go back": lambda f: rewritten(f, TOKENS, put("sentence", 9)),
    "a sentence twice": lambda f: rewritten(f, TEXTS, put("sentence", 1)),
    "sentences of other numbers": lambda f: rewritten(f, TEXTS, put("sentence", -1)),
    "packed": lambda f: rewritten(f, TEXTS, same, compression="zstd"),
    "texts that repeat each other": lambda f: rewritten(
        f, TEXTS, same, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}
    ),
    "groups of another table": lambda f: shutil.copy(f / TEXTS, f / TOKENS),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_table_that_is_damaged_or_lies_is_refused(name: str, folder: Path) -> None:
    """By whichever way of reading comes to what is wrong, and by no other error."""
    rewritten(folder, TOKENS, same)
    rewritten(folder, TEXTS, same)
    assert open_large(folder).search("she said", "phrase").count == 2  # as it was, it opens
    DAMAGES[name](folder)
    refused = 0
    for look in (
        lambda: open_large(folder).search("she"),
        lambda: open_large(folder).search("e", "substring"),
        lambda: open_large(folder).search("she said", "phrase"),
        lambda: (source := open_large(folder)).table(source.search("she"), 100),
    ):
        try:
            look()
        except RecordError as error:
            refused += 1
            assert len(str(error)) < 300  # noqa: PT017 - which ways refuse is not known before
    assert refused


def test_a_group_or_a_text_that_is_too_large_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dictionary of one long text takes little room in a file, however many rows have it."""
    long = put("text", "she " * 20_000)
    rewritten(folder, TEXTS, long, use_dictionary=["text"])
    with pytest.raises(RecordError, match=r"sentences\.parquet.* damaged"):
        open_large(folder).search("she", "phrase")
    monkeypatch.setattr(tables, "MAX_BYTES", 20)
    with pytest.raises(RecordError, match="larger ones"):
        open_large(folder)


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_spans_of_nowhere_are_searched_without_harm(value: int, folder: Path) -> None:
    rewritten(folder, TOKENS, put("end", value))
    rewritten(folder, TOKENS, put("start", value))
    found = open_large(folder).search("she", "phrase")
    assert ((found.indices >= 0) & (found.indices < found.size)).all()
