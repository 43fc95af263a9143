"""Finding tokens in a corpus, against literal results and plain loops; hostile expressions end."""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from core.atlas import Atlas, build_atlas, search_tokens
from core.atlas.search import SearchError, expression
from core.atlas.search import parts as search
from core.atlas.search.expression import KINDS, MAX_QUERY, Kind
from core.atlas.sources.memory import TIME_LIMIT
from core.model import load, trace_by_length
from tests.atlas.corpora import read_words, trace_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.model.trace import Trace

SENTENCES = (
    "The quick brown capybara jumps.",
    "Brown capybaras sleep; a brown  capybara eats.",
    'He said: "U.S.A.!" (the man)',
    "I love 🧑‍🚀 and 😀 in the café.",
    "שלום עולם, hello",
    "$x$ :red[x] </script>",
)
CPU_SECONDS = 2.0  # of this process alone, so that a busy machine changes nothing
steady = settings(deadline=None)


@pytest.fixture(scope="module")
def traces() -> list[tuple[int, Trace]]:
    return list(trace_by_length(load("bundled/minilm"), SENTENCES))


@pytest.fixture(scope="module")
def atlas(traces: list[tuple[int, Trace]]) -> Atlas:
    return build_atlas(traces, SENTENCES)


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
    assert found(atlas, "🧑‍🚀", "regex").keys() == {3}
    assert "".join(found(atlas, "שלום", "phrase")[4].split(" ##")) == "שלום"
    assert count(atlas, "שלום עולם", "phrase") == 1
    assert found(atlas, "עולם שלום", "phrase") == {}


def test_special_tokens_are_in_no_text_even_if_they_were_typed() -> None:
    plain = written("[SEP] a [SEP]")
    special = np.array([True, True, False, True])
    typed = replace(plain, tokens=replace(plain.tokens, special=special))
    assert found(typed, "[SEP]", "token") == {0: "[SEP] [SEP]"}
    assert found(typed, "[SEP]", "phrase") == {}
    assert found(typed, "SEP. a", "regex") == {0: "a"}


WORDS = st.text("aAbßéİ#Ġ😀א.", min_size=1, max_size=4)


@steady
@given(st.lists(WORDS, min_size=1, max_size=8), st.text("aAbBßéi#Ġ😀א.", min_size=1, max_size=2))
def test_a_part_is_found_by_looking_at_every_token(words: list[str], query: str) -> None:
    made = written(" ".join(words))
    names = ["[CLS]", *words]
    by_hand = [query.casefold() in name.casefold() for name in names]
    assert search_tokens(made, query, "substring").tokens.tolist() == by_hand
    whole = [query.casefold() == name.casefold() for name in names]
    assert search_tokens(made, query, "token").tokens.tolist() == whole
    assert count(made, query, "substring") == sum(by_hand)


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


@steady
@given(st.lists(st.sampled_from(["ab", "aab", "ba", "B"]), min_size=1, max_size=12), st.data())
def test_a_phrase_is_found_by_comparing_word_after_word(
    words: list[str], data: st.DataObject
) -> None:
    phrase = data.draw(st.lists(st.sampled_from(["ab", "aab", "ba", "b"]), min_size=1, max_size=3))
    folded, size, expected, times, at = [w.lower() for w in words], len(phrase), set(), 0, 0
    while at + size <= len(words):
        if folded[at : at + size] == phrase:  # one match begins where the last one ended
            expected |= set(range(at, at + size))
            times, at = times + 1, at + size
        else:
            at += 1
    matches = search_tokens(written(" ".join(words)), "  ".join(phrase), "phrase")
    assert set(np.flatnonzero(matches.tokens) - 1) == expected
    assert matches.count == times


def test_texts_put_together_from_tokens_are_searched_alike(
    traces: list[tuple[int, Trace]],
) -> None:
    bare = build_atlas(traces)
    assert found(bare, "brown capybara", "phrase") == {
        0: "brown cap ##y ##bara",
        1: "brown cap ##y ##bara",
    }
    assert found(bare, "cap", "phrase") == {}
    assert found(bare, "capy?bara.", "regex").keys() == {0, 1}
    assert count(bare, "[cls]", "token") == 6


@pytest.mark.parametrize(
    ("query", "expected", "times"),
    [
        (r"capybaras?\b", {0: "cap ##y ##bara", 1: "cap ##y ##bara ##s cap ##y ##bara"}, 3),
        (r"BROWN\s+cap", {0: "brown cap", 1: "brown cap brown cap"}, 3),
        (r"yb", {0: "##y ##bara", 1: "##y ##bara ##y ##bara"}, 3),
        (r"^[a-z]+", {0: "the", 1: "brown", 2: "he", 3: "i"}, 4),
        (r"z*", {}, 0),  # matches of no length everywhere
        (r"\b", {}, 0),
        (r"q*", {0: "quick"}, 1),
        (r"\s+", {}, 0),  # between tokens, and in none
        (r"\[CLS\]|\[SEP\]", {}, 0),
        (r"[A-Z](\.[A-Z]){2}", {2: "u . s . a"}, 1),
        (r"\d{4}-\d{2}-\d{2}", {}, 0),
    ],
)
def test_an_expression_reads_the_text_of_each_sentence(
    query: str, expected: dict[int, str], times: int, atlas: Atlas
) -> None:
    shown = found(atlas, query, "regex")
    assert shown == expected
    assert count(atlas, query, "regex") == times


@pytest.mark.parametrize("query", ["(", "[a", "*", "(?P<a", "\\", "a{2,1}", "(?x", "\ud83d"])
def test_what_is_no_expression_is_told(query: str, atlas: Atlas) -> None:
    with pytest.raises(SearchError, match="not a regular expression"):
        search_tokens(atlas, query, "regex")


UNKNOWN = {
    r"(?=a)b": "look-ahead and look-behind",
    r"(?<=a": "look-ahead and look-behind",
    r"(?R)?e": "recursion",
    r"(?P<n>a)(?P>n)": "recursion",
    r"(a)(?1)": "recursion",
    r"(a)\1": "back-references",
    r"(?P<n>a)(?P=n)": "back-references",
    r"(?>a+)b": "atomic groups",
    r"a{2,3}+b": "possessive repetitions",
    r"(a)?(?(1)b|c)": "conditions",
    r"a(?#b)": "comments",
    r"\C": "single bytes",
    r"(?:a?){1000000000}z": "repetitions of more than 1,000",
    "a{2," + "9" * 150 + "}": "repetitions of more than 1,000",
    r"(?:word){e<=20}": "fuzzy matching",
    r"(?:xyz){2i+2d+1s<=4,e:[a-z]}": "fuzzy matching",
}


@pytest.mark.parametrize(("query", "what"), UNKNOWN.items())
def test_what_could_take_for_ever_is_refused_by_name(query: str, what: str, atlas: Atlas) -> None:
    with pytest.raises(SearchError, match=f"This search does not support {what}"):
        search_tokens(atlas, query, "regex")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (r"[(][?][=]", "a (?= b"),
        (r"\Q(?R)\1\E", "a (?R)\\1 b"),
        (r"\{e\}", "a {e} b"),
        (r"x{2}[{]e}", "xx{e}"),
        (r"\++", "a ++ b"),
        (r"[]a++]+", "]a+"),
        (r"\\1", "a \\1"),
        (r"\pL\p{Greek}\x{e9}", "aαé"),
    ],
)
def test_what_only_looks_unknown_is_searched_for(query: str, text: str) -> None:
    assert count(written(text), query, "regex") == 1


LONG = "a" * 6000 + "!"
EVIL = (r"(a+)+$", r"(.*)*x", r"(?:(?:(a)|b)*)*[z?]", r"(?:.?){1000}z", r".*.*.*.*.*.*.*.*z")


@pytest.mark.parametrize("query", EVIL)
def test_an_expression_that_would_not_end_elsewhere_ends(query: str) -> None:
    made = written(LONG, LONG)
    began = time.process_time()
    assert search_tokens(made, query, "regex").count == 0
    assert time.process_time() - began < CPU_SECONDS


def test_the_time_limit_is_of_the_whole_corpus_and_not_of_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock on which each look takes a tenth of the limit: sentences are many, each is quick.

    It is the thread's own: whoever else works on this machine is not counted.
    """
    looks = SimpleNamespace(thread_time=slow_clock(10))
    monkeypatch.setattr(expression, "time", looks)
    assert search_tokens(written(*["ab"] * 4), "a", "regex").count == 4
    looks.thread_time = slow_clock(10)
    with pytest.raises(SearchError, match=f"stopped after {TIME_LIMIT} seconds"):
        search_tokens(written(*["ab"] * 40), "a", "regex")
    looks.thread_time = slow_clock(10)
    with pytest.raises(SearchError, match="stopped"):  # within one sentence too
        search_tokens(written("a" * 40), "a", "regex")


@pytest.mark.parametrize("kind", ["phrase", "regex"])
def test_whoever_searches_may_end_it_at_any_sentence(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a visitor does who leaves; each slice of the sentences is a step, here each sentence."""
    monkeypatch.setattr(search, "SLICE_SENTENCES", 1)
    steps = itertools.count()

    def leave() -> None:
        if next(steps) == 3:
            raise InterruptedError

    made = written(*["ab"] * 9)
    with pytest.raises(InterruptedError):
        search_tokens(made, "ab", kind, leave)
    assert search_tokens(made, "ab", kind, lambda: None).count == 9


def slow_clock(looks: int) -> Callable[[], float]:
    """As many looks take the whole limit."""
    return itertools.count(0.0, TIME_LIMIT / looks).__next__


@pytest.mark.parametrize(
    "query",
    [
        "(?:(?:a{1000}){1000}){1000}",
        "(?:a{1000}){1000}",
        "a{1001}",
        "(?:(?:a{300,}){300,301}){300}",
        r"\pL{1000}",
        r"(?:\pL{30}){33}",
    ],
)
def test_repetitions_that_would_fill_the_memory_are_refused(query: str) -> None:
    with pytest.raises(SearchError, match="repeats too much"):
        search_tokens(written("a"), query, "regex")


def test_no_expression_of_a_visitor_is_kept_or_logged(capfd: pytest.CaptureFixture[str]) -> None:
    for query in ("[a-q]secret", "secret(", "(?:.secret?){300}"):
        with contextlib.suppress(SearchError):
            search_tokens(written("a secret"), query, "regex")
    assert re2._Regexp._make.cache_info().currsize == 0
    assert "secret" not in "".join(capfd.readouterr())


# Expressions, and whether each always takes a character: of a loop around one that need not,
# Python's library ends the first empty round where RE2 (and Perl) may go on, so none is made.
PIECES = [(each, True) for each in ("a", "b", "é", "😀", "א", ".", "[ab]", "[^a]", "a|b")]
PIECES += [(each, False) for each in (r"\b", "^", "$", "é?", "a*?", "")]


def grouped(made: tuple[tuple[str, bool], tuple[str, bool], str]) -> tuple[str, bool]:
    (first, takes_first), (second, takes_second), suffix = made
    takes = takes_first or takes_second
    if not takes and suffix in {"*", "+?"}:
        suffix = "?"
    return f"(?:{first}{second}){suffix}", takes and suffix not in {"*", "?"}


SUFFIXES = st.sampled_from(["", "*", "+?", "{2}", "?"])
GROUPS = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.tuples(inner, inner, SUFFIXES).map(grouped),
    max_leaves=4,
).map(lambda made: made[0])


@steady
@given(GROUPS, st.text("abé😀א \ud83d", max_size=12))
def test_places_are_characters_as_pythons_own_library_counts_them(query: str, text: str) -> None:
    """Stepping on by one character after a match of no length, as RE2's wrapper does."""
    pattern = re.compile(query, re.IGNORECASE | re.ASCII)
    expected, start = [], 0
    while start <= len(text) and (match := pattern.search(text.replace("\ud83d", "�"), start)):
        expected.append(match.span())
        start = match.end() + (match.start() == match.end() == start or not match.group())
    places = list(expression.expression(query)(text))
    assert [p for p in places if p[1] > p[0]] == [p for p in expected if p[1] > p[0]]


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=8)


@steady
@given(SPANS, st.lists(st.integers(0, 16), unique=True, max_size=8))
def test_tokens_and_matches_overlap_as_a_loop_over_all_pairs_says(
    tokens: list[tuple[int, int]], cuts: list[int]
) -> None:
    cuts = sorted(cuts)
    places = list(zip(cuts[::2], cuts[1::2], strict=False))
    spans = [(first, first + length) for first, length in tokens]
    pairs = {
        (token, place)
        for token, (first, last) in enumerate(spans)
        for place, (start, end) in enumerate(places)
        if first < end and last > start
    }
    touching, touched = search.overlaps(
        np.array(spans).reshape(-1, 2), np.array(places).reshape(-1, 2)
    )
    assert np.flatnonzero(touching).tolist() == sorted({t for t, _ in pairs})
    assert touched == len({p for _, p in pairs})


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
