"""Find tokens in an atlas that is in parts, one part at a time.

It finds what :mod:`core.analysis.atlas.search` finds.

Distinct tokens are compared once. Sentences are searched by Arrow's RE2 first, which reads millions
of words a second; only those with a match are read by the exact search.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from core.analysis.atlas.expression import SURROGATE, expression, stop_if
from core.analysis.atlas.search import check_query, overlaps, phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray
    from pyarrow import Array as ArrowArray

    from core.analysis.arrays import Bools
    from core.analysis.atlas.expression import Spans
    from core.analysis.atlas.search import Kind

    Ints = NDArray[np.integer]
    Words = tuple[Sequence[str], Ints]  # distinct texts, and each token's index among them
    Find = Callable[[Sequence[str]], Ints]  # matches (match, 2) in texts with a character between

_BLANK = r"[\s\pZ\x0b\x1c-\x1f\x85]+"  # what Python counts as blank
TIME_LIMIT = 5.0  # seconds that phrases and expressions may take over all sentences


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
class PartMatches:
    """The result of a search of all parts.

    Attributes
    ----------
    tokens : indices of those that match, or are part of a match, ascending, among all tokens.
    count : tokens, or places in the text that have one.
    sentences : how many have a match.
    """

    tokens: NDArray[np.int64]
    count: int
    sentences: int


def search_parts(parts: Iterable[Searched], query: str, kind: Kind) -> PartMatches:
    """Tokens of all parts that match; kinds and errors as in `search_tokens`."""
    query = check_query(query)
    if kind in ("token", "substring"):
        search = _by_word(query.casefold(), whole=kind == "token")
    elif kind == "phrase":
        # Every sentence with its words in this order is read: what ends a word differs in RE2.
        words = map(re.escape, SURROGATE.sub("\ufffd", query).split())
        search = _by_text(_all_at_once(query), _BLANK.join(words))
    else:
        search = _by_text(_one_by_one(expression(query, TIME_LIMIT)), query)
    found, count, sentences, first = [np.empty(0, dtype=np.int64)], 0, 0, 0
    for part in parts:
        matching, places = search(part)
        found.append(np.flatnonzero(matching) + first)
        count += places
        if places:  # parts are of whole sentences
            sentences += np.unique(part.sentence()[matching]).size
        first += part.count
    return PartMatches(np.concatenate(found), count, sentences)


def _by_word(query: str, *, whole: bool) -> Callable[[Searched], tuple[Bools, int]]:
    known = _Known(query, whole=whole)

    def search(part: Searched) -> tuple[Bools, int]:
        matching = np.zeros(part.count, dtype=np.bool_)
        for words, index in part.words():
            chosen = np.fromiter(map(known.__getitem__, words), dtype=np.bool_, count=len(words))
            if chosen.any():
                matching |= chosen[index]
        return matching, int(matching.sum())

    return search


class _Known(dict[str, bool]):
    """Which words match; each is compared once, though most are in every part."""

    def __init__(self, query: str, *, whole: bool) -> None:
        self._query, self._whole = query, whole

    def __missing__(self, word: str) -> bool:
        folded = word.casefold()
        self[word] = answer = folded == self._query if self._whole else self._query in folded
        return answer


def _by_text(find: Find, pattern: str) -> Callable[[Searched], tuple[Bools, int]]:
    """`pattern` is a regular expression that every sentence with a match has."""
    start = time.thread_time()  # others' work on this server does not count

    def search(part: Searched) -> tuple[Bools, int]:
        import pyarrow.compute as pc

        stop_if(time.thread_time() - start > TIME_LIMIT, TIME_LIMIT)
        numbers, texts = part.texts()
        has = pc.match_substring_regex(texts, pattern, ignore_case=True)
        chosen = has.to_numpy(zero_copy_only=False)
        if not chosen.any():
            return np.zeros(part.count, dtype=np.bool_), 0
        return _within(part, numbers[chosen], texts.filter(has).to_pylist(), find)

    return search


def _all_at_once(query: str) -> Find:
    """Matches of a phrase, in time that hardly grows with the number of texts."""
    spans = phrase(query)
    # Neither blank nor letter nor in the phrase, so no match has it or looks beyond it.
    between = next(one for one in map(chr, (0, *range(0xE000, 0xF8FF))) if one not in query)

    def find(texts: Sequence[str]) -> Ints:
        return _array(spans(between.join(texts)))

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
    pieces, special = part.spans()
    own, sizes = _of_sentences(part.sentence(), numbers)
    offsets = np.repeat(_starts(texts)[:-1], sizes)
    in_text = ~special[own]
    own, offsets = own[in_text], offsets[in_text]
    overlapping, places = overlaps(pieces[own] + offsets[:, None], matches)
    matching[own[overlapping]] = True
    return matching, places


def _of_sentences(sentence: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Indices of the tokens of these sentences, in order, and how many each sentence has."""
    firsts, ends = (np.searchsorted(sentence, numbers, side) for side in ("left", "right"))
    sizes = ends - firsts
    before = np.cumsum(sizes) - sizes  # of each sentence, among these tokens
    return np.arange(sizes.sum()) + np.repeat(firsts - before, sizes), sizes
