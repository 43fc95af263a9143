"""The files that a search reads find what is found in memory, and are not trusted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from core.atlas import build_atlas, search_tokens
from core.atlas.data import CorpusTexts, CorpusTokens
from core.atlas.files import AtlasFileError
from core.atlas.files import segments as writing
from core.atlas.files.segments import Segment, segment_file, write_segments
from core.atlas.files.texts import storable_sentences, stored_texts
from core.atlas.search import SearchError
from core.atlas.search.parts import search_parts
from core.atlas.sources import folder as large_files
from core.atlas.sources import open_large
from core.atlas.sources.folder import LargeAtlas
from tests.atlas.files import trace
from tests.atlas.folders import finish, write_folder
from tests.atlas.plain_search import search_plainly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.atlas import Atlas
    from core.atlas.files.description import Sizes
    from core.atlas.search import Kind

SENTENCES = ("then she", "said the cat", "she  said", "the cat she", "said she said", "nothing")
PARTS = ((0,), (1, 2), (3,), (4, 5))
TOGETHER = 12  # tokens of a file, so that it has two of these parts


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(SENTENCES)]
    return build_atlas(traces, SENTENCES)


@pytest.fixture
def folder(atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(writing, "SEGMENT_TOKENS", TOGETHER)
    return write_folder(atlas, tmp_path / "large.atlas", PARTS, (0, 3))


def test_parts_lie_together_in_files_of_a_bounded_size(folder: Path) -> None:
    large = open_large(folder)
    assert isinstance(large, LargeAtlas)
    counts = [segment.count for segment in large.searched]
    assert sum(counts) == large.facts.tokens
    assert 1 < len(counts) < len(PARTS)
    assert max(counts) <= TOGETHER
    assert all(segment.path.is_file() for segment in large.searched)


def test_no_phrase_goes_from_one_sentence_to_the_next(atlas: Atlas, folder: Path) -> None:
    """In one part, from part to part, and from file to file."""
    found = open_large(folder).search("she said", "phrase")
    sentences = atlas.tokens.sentence[found.indices]
    assert set(sentences.tolist()) == {2, 4}
    assert (found.count, found.sentences) == (2, 2)
    assert open_large(folder).search("cat she", "phrase").count == 1
    assert open_large(folder).search("said the", "phrase").count == 1
    assert open_large(folder).search("said nothing", "phrase").count == 0


def test_files_of_an_earlier_writer_are_removed(
    atlas: Atlas, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(folder.glob("search-*"))
    (folder / "search-00001.safetensors.writing").write_bytes(b"half")
    monkeypatch.setattr(writing, "SEGMENT_TOKENS", 1000)
    finish(atlas, folder, PARTS)
    after = sorted(folder.glob("search-*"))
    assert len(after) == 1 < len(before)
    assert open_large(folder).search("she").count == 4


def test_a_file_that_would_be_too_large_is_neither_opened_nor_written(
    atlas: Atlas, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = sorted(path.stat().st_size for path in folder.glob("search-*"))
    monkeypatch.setattr(large_files, "MAX_SEGMENT", sizes[-1] - 1)
    with pytest.raises(AtlasFileError, match="larger than"):
        open_large(folder)
    monkeypatch.setattr(writing, "MAX_SEGMENT", sizes[-1] - 1)
    with pytest.raises(AtlasFileError, match="too long to be searched"):
        finish(atlas, folder, PARTS)


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


def segments_in(folder: Path, sizes: Sequence[Sizes]) -> list[Segment]:
    firsts = accumulate((each.tokens for each in sizes), initial=0)
    return [
        Segment(segment_file(folder, number), first, *each)
        for number, (first, each) in enumerate(zip(firsts, sizes, strict=False))
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
    tokens = replace(tokens, sentence=tokens.sentence // 2)
    texts, spans = storable_sentences([text for text, _ in flat], tokens)
    tokens = replace(
        tokens,
        spans=spans,
        texts=tuple(stored_texts(tokens.texts)),
        displays=tuple(stored_texts(tokens.displays)),
    )
    in_memory = replace(atlas, tokens=tokens, sentences=texts)
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "SEGMENT_TOKENS", together)
        segments = segments_in(Path(place), write_segments(Path(place), parts_of(corpus)))
        try:
            expected = search_plainly(in_memory, query, kind)
        except SearchError:
            for search in (partial(search_parts, segments), partial(search_tokens, in_memory)):
                with pytest.raises(SearchError):
                    search(query, kind)
            return
        for found in (search_parts(segments, query, kind), search_tokens(in_memory, query, kind)):
            assert (found.indices.tolist(), found.count, found.sentences) == expected
            assert np.flatnonzero(found.tokens).tolist() == expected[0]
            assert found.tokens.shape == (len(tokens),)
        check_rows(in_memory, segments)


def check_rows(atlas: Atlas, segments: Sequence[Segment]) -> None:
    """Every token and sentence of the files is that in memory; every other one has a number."""
    tokens, first = atlas.tokens, 0
    for each in segments:
        table, own = each.table(np.arange(each.count)), slice(first, first + each.count)
        assert tuple(table["token"]) == tokens.displays[own]
        assert table["sentence"].tolist() == (2 * tokens.sentence[own] + 1).tolist()
        assert table["position"].tolist() == (tokens.position[own] + 1).tolist()
        assert table["text"].tolist() == [atlas.sentences[i] for i in tokens.sentence[own]]
        first += each.count


def changed(path: Path, **changes: Any) -> None:
    """Arrays of the file are others; a function changes the array that is there."""
    arrays = load_file(path)
    for name, change in changes.items():
        arrays[name.replace("__", ".")] = change(arrays.get(name.replace("__", ".")))
    save_file(arrays, path)


def put(index: Any, value: int) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[index] = value
        return array

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "cut in its list of contents": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "empty": lambda path: path.write_bytes(b""),
    "longer than it says": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a list of contents without end": lambda path: path.write_bytes(b"\xff" * 64),
    "an array more": lambda path: changed(path, more=lambda _: np.zeros(1)),
    "a token less": lambda path: changed(path, words=lambda a: a[1:]),
    "words of another type": lambda path: changed(path, words=lambda a: a.astype(np.int64)),
    "a word that is not there": lambda path: changed(path, words=put(0, 2**31)),
    "a pair of texts that are not there": lambda path: changed(path, pairs=put((0, 1), 2**32 - 1)),
    "pairs of three": lambda path: changed(path, pairs=lambda a: np.zeros((len(a), 3), np.uint32)),
    "no pairs": lambda path: changed(path, pairs=lambda _: np.zeros((0, 2), np.uint32)),
    "a vocabulary of air": lambda path: changed(
        path, vocabulary__ends=lambda a: np.concatenate([np.zeros(99, np.int64), a])
    ),
    "no vocabulary": lambda path: changed(path, vocabulary__ends=lambda _: np.zeros(0, np.int64)),
    "a text beyond its end": lambda path: changed(path, vocabulary__ends=put(-1, 10**12)),
    "a text that ends before it begins": lambda path: changed(path, vocabulary__ends=put(0, -1)),
    "half of a letter": lambda path: changed(path, vocabulary=put(0, 0xFF)),
    "a sentence that is half of a letter": lambda path: changed(path, texts=put(0, 0xFF)),
    "a sentence beyond its end": lambda path: changed(path, texts__ends=put(-1, 10**12)),
    "a sentence that ends before": lambda path: changed(path, texts__ends=put(0, -(10**12))),
    "sentences that go back": lambda path: changed(path, texts__ends=put(0, 2**62)),
    "sentences of no token": lambda path: changed(path, sentences__ends=put(0, 0)),
    "sentences of more tokens": lambda path: changed(path, sentences__ends=put(-1, 2**62)),
    "sentences of fewer tokens": lambda path: changed(path, sentences__ends=put(0, -(2**63))),
    "a sentence twice": lambda path: changed(path, sentences=lambda a: a * 0),
    "sentences below zero": lambda path: changed(path, sentences=put(0, -5)),
    "spans of three": lambda path: changed(path, spans=lambda a: np.zeros((len(a), 3), np.int32)),
    "special as numbers": lambda path: changed(path, special=lambda a: a.astype(np.uint8)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_a_file_that_is_damaged_or_lies_is_refused(name: str, folder: Path) -> None:
    """By whichever way of reading comes to what is wrong, and by no other error."""
    DAMAGES[name](segment_file(folder, 0))
    large = open_large(folder)
    assert isinstance(large, LargeAtlas)
    refused = 0
    for look in (
        lambda: large.search("she"),
        lambda: large.search("e", "substring"),
        lambda: large.search("she said", "phrase"),
        lambda: large.searched[0].table(np.arange(large.searched[0].count)),
    ):
        try:
            look()
        except AtlasFileError as error:
            refused += 1
            assert len(str(error)) < 300  # noqa: PT017 - which ways refuse is not known before
    assert refused


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_spans_of_nowhere_are_searched_without_harm(value: int, folder: Path) -> None:
    changed(segment_file(folder, 0), spans=lambda a: np.full_like(a, value))
    found = open_large(folder).search("she", "phrase")
    assert ((found.indices >= 0) & (found.indices < open_large(folder).facts.tokens)).all()


def test_a_file_of_another_atlas_is_refused(folder: Path) -> None:
    shutil.copy(segment_file(folder, 1), segment_file(folder, 0))
    with pytest.raises(AtlasFileError):
        open_large(folder).search("she")
