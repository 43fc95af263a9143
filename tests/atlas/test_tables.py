"""The tables of texts that a search reads find what is found in memory, and are not trusted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.atlas import build_atlas, open_large, search_tokens
from core.atlas import tables as module
from core.atlas.data import CorpusTexts, CorpusTokens
from core.atlas.source import SearchError, Source, search_tables
from core.atlas.tables import SENTENCES as SENTENCE_TABLE
from core.atlas.tables import TOKENS, as_stored, open_tables, write_tables
from core.records import RecordError
from tests.atlas.files import finish, trace, write_folder
from tests.atlas.plain_search import search_plainly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.atlas import Atlas
    from core.atlas.source import Kind

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


def test_parts_lie_together_in_groups_of_a_bounded_size(folder: Path) -> None:
    groups = open_large(folder).groups
    counts = [group.count for group in groups]
    assert (sum(counts), sum(group.rows for group in groups)) == (21, len(SENTENCES))
    assert 1 < len(counts) < len(PARTS)
    assert max(counts) <= TOGETHER


def test_no_phrase_goes_from_one_sentence_to_the_next(atlas: Atlas, folder: Path) -> None:
    """In one part, from part to part, and from file to file."""
    found = open_large(folder).search("she said", "phrase")
    sentences = atlas.tokens.sentence[found.indices]
    assert set(sentences.tolist()) == {2, 4}
    assert (found.count, found.sentences) == (2, 2)
    assert open_large(folder).search("cat she", "phrase").count == 1
    assert open_large(folder).search("said the", "phrase").count == 1
    assert open_large(folder).search("said nothing", "phrase").count == 0


def test_what_an_earlier_writer_left_is_replaced_or_removed(atlas: Atlas, folder: Path) -> None:
    left = folder / "tokens.parquet.0a1b2c3d.writing"
    left.write_bytes(b"half")
    finish(atlas, folder, PARTS)
    assert not left.exists()
    assert open_large(folder).search("she").count == 4


def test_what_is_found_is_a_table_of_tokens_in_their_sentences(atlas: Atlas, folder: Path) -> None:
    large = open_large(folder)
    found = large.search("sai", "substring")
    table = large.table(found, 3)
    assert len(table) == 3 < found.count
    tokens = atlas.tokens
    for row, index in zip(table.to_dict("records"), found.indices, strict=False):
        assert row["token"] == tokens.displays[index]
        assert row["position"] == tokens.position[index] + 1
        assert row["sentence"] == tokens.sentence[index] + 1
        assert row["text"] == SENTENCES[tokens.sentence[index]]


ALPHABET = "aAb ßſsKkKiİıIιΙͅΣσς\t\n\u00a0\x1c\x00\x01\ue000-,.é\u0301😀\ud83d"


@st.composite
def corpora(draw: st.DrawFn) -> list[list[tuple[str, list[tuple[int, int]]]]]:
    """Parts of sentences: a text, and the pieces of its tokens, some of which share letters."""
    words = st.text(ALPHABET, max_size=4) | st.sampled_from(["she", "said", "She ", " SAID"])
    texts = st.lists(words, max_size=6).map("".join)

    def cut(text: str) -> st.SearchStrategy[tuple[str, list[tuple[int, int]]]]:
        ends = st.integers(0, len(text))
        chunks = st.lists(st.tuples(ends, ends).map(lambda two: (min(two), max(two))), max_size=8)
        return st.tuples(st.just(text), chunks.map(sorted))

    part = st.lists(texts.flatmap(cut), min_size=1, max_size=4)
    return draw(st.lists(part, min_size=1, max_size=4))


def tokens_of(sentences: Sequence[tuple[str, list[tuple[int, int]]]], first: int) -> CorpusTokens:
    """A special token and one a piece; every other sentence has a number of the corpus."""
    rows = [
        (2 * (first + number), place, text[a:b], (a, b), place == 0)
        for number, (text, chunks) in enumerate(sentences)
        for place, (a, b) in enumerate([(0, 0), *chunks])
    ]
    return CorpusTokens(
        texts=tuple("[CLS]" if row[4] else f"##{row[2]}" for row in rows),
        displays=tuple("[CLS]" if row[4] else row[2] for row in rows),
        sentence=np.array([row[0] for row in rows], np.int32),
        position=np.array([row[1] for row in rows], np.int32),
        word=np.zeros(len(rows), np.int32),
        special=np.array([row[4] for row in rows]),
        spans=np.array([row[3] for row in rows], np.int32),
    )


def parts_of(
    corpus: Sequence[Sequence[tuple[str, list[tuple[int, int]]]]],
) -> list[CorpusTexts]:
    """The parts of a corpus."""
    firsts = accumulate(map(len, corpus), initial=0)
    return [
        CorpusTexts(tokens_of(sentences, first), tuple(text for text, _ in sentences), ())
        for first, sentences in zip(firsts, corpus, strict=False)
    ]


@pytest.mark.slow
@settings(deadline=None)
@given(
    corpora(),
    st.text(ALPHABET, min_size=1, max_size=5) | st.sampled_from(["she said", "she", "said", "a"]),
    st.sampled_from(["token", "substring", "phrase"]),
    st.integers(1, 30),
)
@example(corpus=[[("I", [(0, 1)])]], query="İ", kind="phrase", together=1)
def test_files_and_memory_find_the_same(
    atlas: Atlas,
    corpus: list[list[tuple[str, list[tuple[int, int]]]]],
    query: str,
    kind: Kind,
    together: int,
) -> None:
    flat = [sentence for part in corpus for sentence in part]
    tokens = tokens_of(flat, 0)
    texts = as_stored(CorpusTexts(tokens, tuple(text for text, _ in flat)))
    tokens = replace(texts.tokens, sentence=tokens.sentence // 2)
    in_memory = replace(atlas, tokens=tokens, sentences=texts.sentences)
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "GROUP_TOKENS", together)
        size = write_tables(Path(place), parts_of(corpus))
        assert size == (len(tokens), len(flat))
        groups = open_tables(Path(place), size)
        try:
            expected = search_plainly(in_memory, query, kind)
        except SearchError:
            for search in (partial(search_tables, groups), partial(search_tokens, in_memory)):
                with pytest.raises(SearchError):
                    search(query, kind)
            return
        for found in (search_tables(groups, query, kind), search_tokens(in_memory, query, kind)):
            assert (found.indices.tolist(), found.count, found.sentences) == expected
            assert np.flatnonzero(found.tokens).tolist() == expected[0]
            assert found.tokens.shape == (len(tokens),)
        check_rows(in_memory, Source(in_memory, groups))


def check_rows(atlas: Atlas, source: Source) -> None:
    """Every token and sentence of the files is that in memory; every other one has a number."""
    tokens = atlas.tokens
    everything = search_tokens(atlas, "a", "substring")
    table = source.table(replace(everything, indices=np.arange(len(tokens))), len(tokens))
    assert tuple(table["token"]) == tokens.displays
    assert table["sentence"].tolist() == (2 * tokens.sentence + 1).tolist()
    assert table["position"].tolist() == (tokens.position + 1).tolist()
    assert table["text"].tolist() == [atlas.sentences[i] for i in tokens.sentence]


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
