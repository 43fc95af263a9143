"""Finding tokens in a corpus, against literal results and plain loops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.atlas import Atlas, build_atlas, search_tokens
from core.atlas.source import KINDS, MAX_QUERY, Kind, SearchError
from core.model import load, trace_by_length
from tests.atlas.corpora import read_words, trace_of

if TYPE_CHECKING:
    from collections.abc import Sequence


SENTENCES = (
    "The quick brown capybara jumps.",
    "Brown capybaras sleep; a brown  capybara eats.",
    'He said: "U.S.A.!" (the man)',
    "I love 🧑‍🚀 and 😀 in the café.",
    "שלום עולם, hello",
    "$x$ :red[x] </script>",
)
steady = settings(deadline=None)


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build_atlas(trace_by_length(load("bundled/minilm"), SENTENCES), SENTENCES)


def written(*texts: str) -> Atlas:
    """An atlas of words by hand: tokens are the words between single blanks."""
    traces = [trace_of(read_words(text), 0, layers=1, heads=1, kv_heads=1, dim=1) for text in texts]
    return build_atlas(traces, texts)


def found(atlas: Atlas, query: str, kind: Kind) -> dict[int, str]:
    """What is found in each sentence; the figures must agree with it."""
    matches = search_tokens(atlas, query, kind)
    shown: dict[int, list[str]] = {}
    for i in np.flatnonzero(matches.tokens):
        shown.setdefault(int(atlas.tokens.sentence[i]), []).append(atlas.tokens.displays[i])
    assert matches.sentences == len(shown)
    assert bool(matches.count) == bool(shown)
    return {sentence: " ".join(chunks) for sentence, chunks in shown.items()}


def count(atlas: Atlas, query: str, kind: Kind) -> int:
    return search_tokens(atlas, query, kind).count


def test_the_first_position_is_found_like_any_other(atlas: Atlas) -> None:
    matches = search_tokens(atlas, "[CLS]")
    assert matches.tokens.tolist() == [p == 0 for p in atlas.tokens.position.tolist()]
    assert (matches.count, matches.sentences) == (6, 6)
    first = search_tokens(written("one two", "two one"), "one")
    assert first.tokens.tolist() == [False, True, False, False, False, True]


@pytest.mark.parametrize("query", ["the", "  THE "])
def test_a_token_is_found_whole_whatever_its_case(query: str, atlas: Atlas) -> None:
    assert found(atlas, query, "token") == {0: "the", 2: "the", 3: "the"}
    assert count(atlas, query, "token") == 3


def test_a_token_is_not_a_part_of_one(atlas: Atlas) -> None:
    assert found(atlas, "th", "token") == {}
    assert found(atlas, "th", "substring") == {0: "the", 2: "the", 3: "the"}


@pytest.mark.parametrize(("query", "shown"), [("##y", "##y"), ("##BARA", "##bara")])
def test_a_piece_is_found_as_the_tokenizer_writes_it(query: str, shown: str, atlas: Atlas) -> None:
    assert found(atlas, query, "token") == {0: shown, 1: f"{shown} {shown}"}
    assert found(atlas, "bara", "token") == {}
    assert found(atlas, "bara", "substring") == {0: "##bara", 1: "##bara ##bara"}


def test_a_token_is_found_as_it_is_shown_and_as_it_is_called() -> None:
    plain = written("the book")
    tokens = replace(plain.tokens, texts=("[CLS]", "the", "Ġbook"))
    named = replace(plain, tokens=tokens)
    for query in ("book", "Ġbook", "ĠBOOK"):
        assert search_tokens(named, query, "token").tokens.tolist() == [False, False, True]
    assert found(named, "Ġ", "substring") == {0: "book"}


def test_emoji_and_text_from_right_to_left_are_found(atlas: Atlas) -> None:
    assert found(atlas, "😀", "substring") == {3: "😀"}
    assert found(atlas, "😀", "phrase") == {3: "😀"}
    assert "".join(found(atlas, "שלום", "phrase")[4].split(" ##")) == "שלום"
    assert count(atlas, "שלום עולם", "phrase") == 1
    assert found(atlas, "עולם שלום", "phrase") == {}


def test_special_tokens_are_in_no_text_even_if_they_were_typed() -> None:
    plain = written("[SEP] a [SEP]")
    special = np.array([True, True, False, True])
    typed = replace(plain, tokens=replace(plain.tokens, special=special))
    assert found(typed, "[SEP]", "token") == {0: "[SEP] [SEP]"}
    assert found(typed, "[SEP]", "phrase") == {}


@pytest.mark.parametrize(
    ("query", "expected", "times"),
    [
        ("capybara", {0: "cap ##y ##bara", 1: "cap ##y ##bara"}, 2),
        ("Brown Capybara", {0: "brown cap ##y ##bara", 1: "brown cap ##y ##bara"}, 2),
        ("brown   capybara", {0: "brown cap ##y ##bara", 1: "brown cap ##y ##bara"}, 2),
        ("brown capybaras", {1: "brown cap ##y ##bara ##s"}, 1),
        ("brown", {0: "brown", 1: "brown brown"}, 3),
        ("capybara brown", {}, 0),
        ("cap", {}, 0),
        ("own", {}, 0),
        ("brown capy", {}, 0),
        ("sleep; a", {1: "sleep ; a"}, 1),
        (";", {1: ";"}, 1),
        ('said: "U.S.A.!"', {2: 'said : " u . s . a . ! "'}, 1),
        ("(the", {2: "( the"}, 1),
        ("</script>", {5: "< / script >"}, 1),
        (":red[x]", {5: ": red [ x ]"}, 1),
        ("café", {3: "cafe"}, 1),  # as it was typed; this model's tokens have no accents
        ("[CLS]", {}, 0),
    ],
)
def test_a_phrase_is_of_whole_words_and_of_all_their_pieces(
    query: str, expected: dict[int, str], times: int, atlas: Atlas
) -> None:
    assert found(atlas, query, "phrase") == expected
    assert count(atlas, query, "phrase") == times


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
    assert bool(count(written(text), query, "phrase")) == is_there


@pytest.mark.parametrize("query", ["", "\n\t"])
def test_nothing_typed_is_nothing_to_find(query: str, atlas: Atlas) -> None:
    with pytest.raises(SearchError, match="Type what to look for"):
        search_tokens(atlas, query)


def test_what_is_too_long_is_refused_with_its_length(atlas: Atlas) -> None:
    assert search_tokens(atlas, "a" * MAX_QUERY).count == 0
    with pytest.raises(SearchError, match=f"1,000 characters; the limit is {MAX_QUERY}"):
        search_tokens(atlas, "a" * 1000)


HOSTILE = st.text(r"ab1(){}[]*+?\|^$.,#:=<>!&RP-e ", min_size=1, max_size=12) | st.text(max_size=6)
AROUND = written("abab aab (ab) [b] 1,1", "a" * 40 + "!", "{a} $b^ \\")


@steady
@given(HOSTILE, st.sampled_from(KINDS))
def test_whatever_is_typed_is_searched_for_or_refused(query: str, kind: Kind) -> None:
    try:
        matches = search_tokens(AROUND, query, kind)
    except SearchError as error:
        assert str(error)  # noqa: PT017
        return
    assert matches.tokens.shape == (len(AROUND.tokens),)
    sentences: Sequence[int] = AROUND.tokens.sentence[matches.tokens].tolist()
    assert matches.sentences == len(set(sentences))
    assert bool(matches.count) == bool(matches.tokens.any())
