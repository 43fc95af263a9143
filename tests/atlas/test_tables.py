"""The tables of texts that a search reads: in groups of parts, and not trusted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from core.atlas import build_atlas, open_large
from core.atlas import tables as module
from core.atlas.tables import SENTENCES as SENTENCE_TABLE
from core.atlas.tables import TOKENS
from core.records import RecordError
from tests.atlas.files import finish, trace, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.atlas import Atlas

SENTENCES = ("then she", "said the cat", "she  said", "the cat she", "said she said", "nothing")
PARTS = ((0,), (1, 2), (3,), (4, 5))
TOGETHER = 12  # tokens of a file, so that it has two of these parts


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(SENTENCES)]
    return build_atlas(traces, SENTENCES)


@pytest.fixture
def folder(atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "GROUP_TOKENS", TOGETHER)
    return write_folder(atlas, tmp_path / "large.atlas", PARTS, (0, 3))


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
    "texts of noise": lambda f: (f / SENTENCE_TABLE).write_bytes(b"PAR1" * 99),
    "a token less": lambda f: rewritten(f, TOKENS, lambda t: t.slice(1)),
    "a sentence less": lambda f: rewritten(f, SENTENCE_TABLE, lambda t: t.slice(1)),
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
    "a sentence twice": lambda f: rewritten(f, SENTENCE_TABLE, put("sentence", 1)),
    "sentences of other numbers": lambda f: rewritten(f, SENTENCE_TABLE, put("sentence", -1)),
    "packed": lambda f: rewritten(f, SENTENCE_TABLE, same, compression="zstd"),
    "texts that repeat each other": lambda f: rewritten(
        f, SENTENCE_TABLE, same, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}
    ),
    "groups of another table": lambda f: shutil.copy(f / SENTENCE_TABLE, f / TOKENS),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_table_that_is_damaged_or_lies_is_refused(name: str, folder: Path) -> None:
    """By whichever way of reading comes to what is wrong, and by no other error."""
    rewritten(folder, TOKENS, same)
    rewritten(folder, SENTENCE_TABLE, same)
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
    rewritten(folder, SENTENCE_TABLE, long, use_dictionary=["text"])
    with pytest.raises(RecordError, match=r"sentences\.parquet.* damaged"):
        open_large(folder).search("she", "phrase")
    monkeypatch.setattr(module, "MAX_BYTES", 20)
    with pytest.raises(RecordError, match="larger ones"):
        open_large(folder)


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_spans_of_nowhere_are_searched_without_harm(value: int, folder: Path) -> None:
    rewritten(folder, TOKENS, put("end", value))
    rewritten(folder, TOKENS, put("start", value))
    found = open_large(folder).search("she", "phrase")
    assert ((found.indices >= 0) & (found.indices < found.size)).all()
