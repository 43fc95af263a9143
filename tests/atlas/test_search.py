"""Finding tokens in a corpus: literal results, and in files and memory those of plain loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.atlas import Atlas, build_atlas, search_tokens, tables
from core.atlas.data import CorpusTexts, CorpusTokens
from core.atlas.source import MATCH_KINDS, MAX_QUERY, MatchKind, SearchError, Source, search_tables
from core.atlas.tables import as_stored, open_tables, write_tables
from core.model import load, trace_by_length
from tests.atlas.files import read_words, trace_of

Sentence = tuple[str, list[tuple[int, int]]]  # a text, and the pieces of its tokens

SENTENCES = (
    "The quick brown capybara jumps.",
    "Brown capybaras sleep; a brown  capybara eats.",
    'He said: "U.S.A.!" (the man)',
    "I love 🧑‍🚀 and 😀 in the café.",
    "שלום עולם, hello",
    "$x$ :red[x] </script>",
)


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build_atlas(trace_by_length(load("bundled/minilm"), SENTENCES), SENTENCES)


def written(*texts: str) -> Atlas:
    """An atlas of words by hand: tokens are the words between single blanks."""
    traces = [trace_of(read_words(text), 0, layers=1, heads=1, kv_heads=1, dim=1) for text in texts]
    return build_atlas(traces, texts)


def found(atlas: Atlas, query: str, kind: MatchKind) -> tuple[dict[int, str], int]:
    """What is found in each sentence, and how often; the figures must agree with it."""
    matches = search_tokens(atlas, query, kind)
    shown: dict[int, list[str]] = {}
    for i in np.flatnonzero(matches.tokens):
        shown.setdefault(int(atlas.tokens.sentence[i]), []).append(atlas.tokens.displays[i])
    assert matches.sentences == len(shown)
    return {sentence: " ".join(chunks) for sentence, chunks in shown.items()}, matches.count


WHOLE = "cap ##y ##bara"


@pytest.mark.parametrize(
    ("kind", "query", "expected", "times"),
    [
        ("token", "[CLS]", dict.fromkeys(range(6), "[CLS]"), 6),
        ("token", "  THE ", {0: "the", 2: "the", 3: "the"}, 3),
        ("token", "th", {}, 0),
        ("substring", "th", {0: "the", 2: "the", 3: "the"}, 3),
        ("token", "##BARA", {0: "##bara", 1: "##bara ##bara"}, 3),
        ("token", "bara", {}, 0),
        ("substring", "😀", {3: "😀"}, 1),
        ("phrase", "😀", {3: "😀"}, 1),
        ("phrase", "עולם שלום", {}, 0),
        ("phrase", "brown   Capybara", {0: f"brown {WHOLE}", 1: f"brown {WHOLE}"}, 2),
        ("phrase", "brown capybaras", {1: "brown cap ##y ##bara ##s"}, 1),
        ("phrase", "brown", {0: "brown", 1: "brown brown"}, 3),
        ("phrase", "capybara brown", {}, 0),
        ("phrase", "own", {}, 0),
        ("phrase", "brown capy", {}, 0),
        ("phrase", "sleep; a", {1: "sleep ; a"}, 1),
        ("phrase", 'said: "U.S.A.!"', {2: 'said : " u . s . a . ! "'}, 1),
        ("phrase", "</script>", {5: "< / script >"}, 1),
        ("phrase", ":red[x]", {5: ": red [ x ]"}, 1),
        ("phrase", "café", {3: "cafe"}, 1),  # as it was typed; this model's tokens have no accents
        ("phrase", "[CLS]", {}, 0),
    ],
)
def test_what_is_found_of_a_model_s_tokens(
    kind: MatchKind, query: str, expected: dict[int, str], times: int, atlas: Atlas
) -> None:
    """Tokens whatever their case, as the tokenizer writes them; phrases of whole words."""
    assert found(atlas, query, kind) == (expected, times)


def test_right_to_left_is_found(atlas: Atlas) -> None:
    assert "".join(found(atlas, "שלום", "phrase")[0][4].split(" ##")) == "שלום"
    assert found(atlas, "שלום עולם", "phrase")[1] == 1


def test_a_token_is_found_as_it_is_shown_and_as_it_is_called() -> None:
    plain = written("the book")
    tokens = replace(plain.tokens, texts=("[CLS]", "the", "Ġbook"))
    named = replace(plain, tokens=tokens)
    for query in ("book", "Ġbook", "ĠBOOK"):
        assert found(named, query, "token") == ({0: "book"}, 1)


@pytest.mark.parametrize(
    ("query", "text", "is_there"),
    [
        ("hi!", "say hi!you", True),
        ("(brown", "some (browns)", False),
        ("(brown", "some (brown)", True),
        ("-brown", "un-browned", False),
        ("foo_", "foo_bar", False),
        ("a.b", "axb", False),
        ("in", "within in-between", True),
    ],
)
def test_words_end_where_letters_end(query: str, text: str, is_there: bool) -> None:
    assert bool(found(written(text), query, "phrase")[1]) == is_there


def test_nothing_and_too_much_are_refused(atlas: Atlas) -> None:
    for query in ("", "\n\t"):
        with pytest.raises(SearchError, match="Type what to look for"):
            search_tokens(atlas, query)
    assert search_tokens(atlas, "a" * MAX_QUERY).count == 0
    with pytest.raises(SearchError, match=f"1,000 characters; the limit is {MAX_QUERY}"):
        search_tokens(atlas, "a" * 1000)


def search_plainly(atlas: Atlas, query: str, kind: MatchKind) -> tuple[list[int], int, int]:
    """Tokens that match, how many matches have one, and in how many sentences; errors too.

    In loops: every token is compared, every sentence read, every pair looked at.
    """
    query = query.strip()
    if not 0 < len(query) <= MAX_QUERY:
        raise SearchError(query)
    if kind == "phrase":
        places, count = _in_texts(atlas, query.replace("\ud83d", "\ufffd"))
    else:
        folded, tokens = query.casefold(), atlas.tokens
        names = [
            (one.casefold(), other.casefold())
            for one, other in zip(tokens.texts, tokens.displays, strict=True)
        ]
        places = [
            place
            for place, both in enumerate(names)
            if any(name == folded if kind == "token" else folded in name for name in both)
        ]
        count = len(places)
    return places, count, len({int(atlas.tokens.sentence[token]) for token in places})


def _in_texts(atlas: Atlas, query: str) -> tuple[list[int], int]:
    tokens = atlas.tokens
    before = r"(?<!\w)" if query[0].isalnum() or query[0] == "_" else ""
    after = r"(?!\w)" if query[-1].isalnum() or query[-1] == "_" else ""
    pattern = before + r"\s+".join(map(re.escape, query.split())) + after
    places, count = set[int](), 0
    for number, text in enumerate(atlas.sentences):
        own = [token for token in tokens.of_sentence(number) if not tokens.special[token]]
        for match in re.finditer(pattern, text, re.IGNORECASE):
            inside = {
                int(token)
                for token in own
                if tokens.spans[token, 0] < match.end() and tokens.spans[token, 1] > match.start()
            }
            places |= inside
            count += bool(inside)
    return sorted(places), count


ALPHABET = r"aAb ßſsKkKiİıIιΙͅΣσς,.é😀\^$*+?|(){}[]-_" + "\t\n\u00a0\x1c\x00\x01\ue000\u0301\ud83d"


@st.composite
def corpora(draw: st.DrawFn) -> list[list[Sentence]]:
    """Parts of sentences, some of whose pieces share letters."""
    words = st.text(ALPHABET, max_size=4) | st.sampled_from(["she", "said", "She ", " SAID"])
    texts = st.lists(words, max_size=6).map("".join)

    def cut(text: str) -> st.SearchStrategy[Sentence]:
        ends = st.integers(0, len(text))
        chunks = st.lists(st.tuples(ends, ends).map(lambda two: (min(two), max(two))), max_size=8)
        return st.tuples(st.just(text), chunks.map(sorted))

    part = st.lists(texts.flatmap(cut), min_size=1, max_size=4)
    return draw(st.lists(part, min_size=1, max_size=4))


def texts_of(sentences: Sequence[Sentence], first: int = 0) -> CorpusTexts:
    """A special token, typed perhaps, and one a piece; every other number has no sentence."""
    rows = [
        (2 * (first + number), place, text[a:b], (a, b), place == 0)
        for number, (text, chunks) in enumerate(sentences)
        for place, (a, b) in enumerate([(0, len(text)), *chunks])
    ]
    tokens = CorpusTokens(
        texts=tuple("[CLS]" if row[4] else f"##{row[2]}" for row in rows),
        displays=tuple("[CLS]" if row[4] else row[2] for row in rows),
        sentence=np.array([row[0] for row in rows], np.int32),
        position=np.array([row[1] for row in rows], np.int32),
        word=np.zeros(len(rows), np.int32),
        special=np.array([row[4] for row in rows]),
        spans=np.array([row[3] for row in rows], np.int32),
    )
    return CorpusTexts(tokens, tuple(text for text, _ in sentences))


@pytest.mark.slow
@given(
    corpora(),
    st.text(ALPHABET, max_size=5) | st.text(max_size=6) | st.sampled_from(["she said", "said"]),
    st.sampled_from(MATCH_KINDS),
    st.integers(1, 30),
)
@example(corpus=[[("I", [(0, 1)])]], query="İ", kind="phrase", together=1)
def test_files_and_memory_find_the_same(
    atlas: Atlas, corpus: list[list[Sentence]], query: str, kind: MatchKind, together: int
) -> None:
    flat = [sentence for part in corpus for sentence in part]
    texts = as_stored(texts_of(flat))
    tokens = replace(texts.tokens, sentence=texts.tokens.sentence // 2)
    in_memory = replace(atlas, tokens=tokens, sentences=texts.sentences)
    firsts = accumulate(map(len, corpus), initial=0)
    parts = [texts_of(part, first) for first, part in zip(firsts, corpus, strict=False)]
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "GROUP_TOKENS", together)
        size = write_tables(Path(place), parts)
        assert size == (len(tokens), len(flat))
        groups = open_tables(Path(place), size)
        searches = partial(search_tables, groups), partial(search_tokens, in_memory)
        try:
            expected = search_plainly(in_memory, query, kind)
        except SearchError:
            for search in searches:
                with pytest.raises(SearchError):
                    search(query, kind)
            return
        for matches in (search(query, kind) for search in searches):
            assert (matches.indices.tolist(), matches.count, matches.sentences) == expected
            assert np.flatnonzero(matches.tokens).tolist() == expected[0]
            assert matches.tokens.shape == (len(tokens),)
        everything = replace(matches, indices=np.arange(len(tokens)))
        table = Source(in_memory, groups).table(everything, len(tokens))
    assert tuple(table["token"]) == tokens.displays
    assert table["sentence"].tolist() == (2 * tokens.sentence + 1).tolist()
    assert table["position"].tolist() == (tokens.position + 1).tolist()
    assert table["text"].tolist() == [in_memory.sentences[i] for i in tokens.sentence]
