"""Find tokens in the parts of an atlas, one part at a time; an atlas in memory is one part.

Distinct tokens are compared once. Sentences are searched by Arrow's RE2 first, which reads millions
of words a second; only those with a match are read by the exact search. Both read a slice of the
sentences at a time: an odd expression takes a second for a few hundred of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.atlas.search.expression import (
    SURROGATE,
    Kind,
    Spans,
    Step,
    check_query,
    expression,
    no_step,
    phrase,
    within,
)

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

Ints = NDArray[np.integer]
Words = tuple[Sequence[str], Ints]  # distinct texts, and each token's index among them
Find = Callable[[Sequence[str]], Ints]  # matches (match, 2) in texts with a character between
_BLANK = r"[\s\pZ\x0b\x1c-\x1f\x85]+"  # what Python counts as blank
_I = re.compile("[iIİı]")  # the only letters whose case RE2 ignores less than Python does
TIME_LIMIT = 5.0  # processor seconds that phrases and expressions may take over all sentences
SLICE_SENTENCES, SLICE_CHARACTERS = 1_000, 50_000  # at most, but one sentence at least


class Searched(Protocol):
    """One part of an atlas; what a search does not need is not read."""

    @property
    def count(self) -> int:
        """Of its tokens."""

    def words(self) -> tuple[Words, Words]:
        """Its tokens as the tokenizer writes them, and as they are shown."""

    def sentence(self) -> Ints:
        """The number of each token's sentence in the corpus, ascending, (token,)."""

    def texts(self) -> tuple[Ints, ArrowArray]:
        """The number of each sentence in the corpus, ascending, and its text."""

    def spans(self) -> tuple[Ints, Bools]:
        """First character and last + 1 in the sentence, (token, 2); which tokens are in no text."""


@dataclass(frozen=True, eq=False)
class Matches:
    """The result of a search.

    Attributes
    ----------
    indices : of the tokens that match, or are part of a match, ascending, among all.
    size : how many tokens were searched.
    count : tokens, or places in the text that have one.
    sentences : how many have a match.
    """

    indices: NDArray[np.int64]
    size: int
    count: int
    sentences: int

    @cached_property
    def tokens(self) -> Bools:
        """Which tokens match, or are part of a match, (token,)."""
        matching = np.zeros(self.size, dtype=np.bool_)
        matching[self.indices] = True
        return matching


def search_parts(
    parts: Iterable[Searched],
    query: str,
    kind: Kind,
    on_step: Step = no_step,
    seconds: float = TIME_LIMIT,
) -> Matches:
    """Tokens of all parts that match; kinds, steps and errors as in `search_tokens`."""
    query = check_query(query)
    step = within(seconds, on_step)
    if kind in ("token", "substring"):
        search = _by_word(query.casefold(), whole=kind == "token")
    elif kind == "phrase":
        # Every sentence with its words in this order is read: what ends a word differs in RE2.
        query = SURROGATE.sub("\ufffd", query)  # as texts have them
        words = (_I.sub(_I.pattern, re.escape(word)) for word in query.split())
        search = _by_text(_slice_by_slice(query, step), _BLANK.join(words), step)
    else:
        search = _by_text(_one_by_one(expression(query, step)), query, step)
    found, count, sentences, first = [np.empty(0, dtype=np.int64)], 0, 0, 0
    for part in parts:
        on_step()
        matching, places = search(part)
        found.append(np.flatnonzero(matching) + first)
        count += places
        if places:  # parts are of whole sentences
            sentences += np.unique(part.sentence()[matching]).size
        first += part.count
    return Matches(np.concatenate(found), first, count, sentences)


def _by_word(query: str, *, whole: bool) -> Callable[[Searched], tuple[Bools, int]]:
    @cache  # most words are in every part
    def known(word: str) -> bool:
        folded = word.casefold()
        return folded == query if whole else query in folded

    def search(part: Searched) -> tuple[Bools, int]:
        matching = np.zeros(part.count, dtype=np.bool_)
        for words, index in part.words():
            chosen = np.fromiter(map(known, words), dtype=np.bool_, count=len(words))
            if chosen.any():
                matching |= chosen[index]
        return matching, int(matching.sum())

    return search


def _by_text(find: Find, pattern: str, step: Step) -> Callable[[Searched], tuple[Bools, int]]:
    """`pattern` is a regular expression that every sentence with a match has."""

    def search(part: Searched) -> tuple[Bools, int]:
        numbers, texts = part.texts()
        chosen = _having(texts, pattern, step)
        if not chosen.any():
            return np.zeros(part.count, dtype=np.bool_), 0
        return _within(part, numbers[chosen], texts.filter(chosen).to_pylist(), find)

    return search


def _having(texts: ArrowArray, pattern: str, step: Step) -> Bools:
    """Which texts the expression matches somewhere, (text,)."""
    import pyarrow.compute as pc

    chosen = np.zeros(len(texts), dtype=np.bool_)
    for part in _slices(pc.binary_length(texts).to_numpy(zero_copy_only=False)):
        step()
        has = pc.match_substring_regex(texts[part], pattern, ignore_case=True)
        chosen[part] = has.to_numpy(zero_copy_only=False)
    return chosen


def _slices(lengths: Ints) -> Iterator[slice]:
    """Texts of these lengths, a few at a time."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(ends):
        most = (ends[start - 1] if start else 0) + SLICE_CHARACTERS
        end = max(start + 1, int(np.searchsorted(ends, most, side="right")))
        yield slice(start, end := min(end, start + SLICE_SENTENCES))
        start = end


def _slice_by_slice(query: str, step: Step) -> Find:
    """Matches of a phrase, in time that hardly grows with the number of texts."""
    spans = phrase(query, step)
    # Neither blank nor letter nor in the phrase, so no match has it or looks beyond it.
    between = next(one for one in map(chr, (0, *range(0xE000, 0xF8FF))) if one not in query)

    def find(texts: Sequence[str]) -> Ints:
        starts = _starts(texts)
        return np.concatenate(
            [
                _array(spans(between.join(texts[part]))) + starts[part.start]
                for part in _slices(np.diff(starts))
            ]
        )

    return find


def _one_by_one(spans: Callable[[str], Spans]) -> Find:
    """Matches of an expression, which may look at where a text begins and ends."""

    def find(texts: Sequence[str]) -> Ints:
        starts = _starts(texts).tolist()
        return _array(
            (start + first, start + end)
            for text, start in zip(texts, starts, strict=False)
            for first, end in spans(text)
        )

    return find


def _array(matches: Spans) -> Ints:
    """Spans as int64 (match, 2), without empty ones."""
    ends = np.fromiter(chain.from_iterable(matches), dtype=np.int64).reshape(-1, 2)
    return ends[ends[:, 0] < ends[:, 1]]


def _starts(texts: Sequence[str]) -> Ints:
    """Where each text begins when there is a character after each, and where the last one ends."""
    return np.cumsum([0, *(len(text) + 1 for text in texts)])


def _within(part: Searched, numbers: Ints, texts: Sequence[str], find: Find) -> tuple[Bools, int]:
    """The tokens in matches of these sentences, and how many matches have one.

    The sentences are laid one after the other, so that all tokens are compared at once.
    """
    matching = np.zeros(part.count, dtype=np.bool_)
    matches = find(texts)
    if not matches.size:
        return matching, 0
    chunks, special = part.spans()
    own, sizes = _of_sentences(part.sentence(), numbers)
    offsets = np.repeat(_starts(texts)[:-1], sizes)
    in_text = ~special[own]
    own, offsets = own[in_text], offsets[in_text]
    overlapping, places = overlaps(chunks[own] + offsets[:, None], matches)
    matching[own[overlapping]] = True
    return matching, places


def _of_sentences(sentence: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Indices of the tokens of these sentences, in order, and how many each sentence has."""
    firsts, ends = (np.searchsorted(sentence, numbers, side) for side in ("left", "right"))
    sizes = ends - firsts
    before = np.cumsum(sizes) - sizes  # of each sentence, among these tokens
    return np.arange(sizes.sum()) + np.repeat(firsts - before, sizes), sizes


def overlaps(spans: Ints, matches: Ints) -> tuple[Bools, int]:
    """Which tokens overlap a match, (token,), and how many matches overlap a token.

    `spans` are (token, 2), first character and last + 1; `matches` (match, 2) are in order and do
    not overlap each other. Memory grows with tokens plus matches, not with their product.
    """
    if (spans[1:] >= spans[:-1]).all():  # as tokens nearly always are: there are fewer matches
        overlapped, overlapping = _overlaps(matches, spans)
    else:
        overlapping, overlapped = _overlaps(spans, matches)
    return overlapping, int(overlapped.sum())


def _overlaps(spans: Ints, others: Ints) -> tuple[Bools, Bools]:
    """Which spans overlap any of the others, and which of the others are overlapped.

    Both the beginnings and the ends of the others ascend.
    """
    first = np.searchsorted(others[:, 1], spans[:, 0], side="right")  # to end after a span's start
    end = np.searchsorted(others[:, 0], spans[:, 1], side="left")  # to start after its end
    overlapping = first < end
    change = np.zeros(len(others) + 1, dtype=np.intp)
    np.add.at(change, first[overlapping], 1)
    np.add.at(change, end[overlapping], -1)
    return overlapping, np.cumsum(change[:-1]) > 0
