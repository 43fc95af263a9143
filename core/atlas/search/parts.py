"""Find tokens in the parts of an atlas, one part at a time; an atlas in memory is one part.

Distinct tokens are compared once. Arrow finds the sentences that have a phrase's words in their
order, millions of words a second; only those are read for whole words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

Ints = NDArray[np.integer]
Words = tuple[Sequence[str], Ints]  # distinct texts, and each token's index among them
Kind = Literal["token", "substring", "phrase"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase")
MAX_QUERY = 200  # characters
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character, which UTF-8 cannot encode
_BLANK = r"[\s\pZ\x0b\x1c-\x1f\x85]+"  # what Python counts as blank
_I = re.compile("[iIİı]")  # the only letters whose case Arrow ignores less than Python does


class SearchError(ValueError):
    """The search cannot be run; the message says why."""


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


def search_parts(parts: Iterable[Searched], query: str, kind: Kind) -> Matches:
    """Tokens of all parts that match; kinds and errors as in `search_tokens`."""
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > MAX_QUERY:
        raise SearchError(f"The search has {len(query):,} characters; the limit is {MAX_QUERY}.")
    search = _by_text(query) if kind == "phrase" else _by_word(query, whole=kind == "token")
    found, count, sentences, first = [np.empty(0, dtype=np.int64)], 0, 0, 0
    for part in parts:
        matching, places = search(part)
        found.append(np.flatnonzero(matching) + first)
        count += places
        if places:  # parts are of whole sentences
            sentences += np.unique(part.sentence()[matching]).size
        first += part.count
    return Matches(np.concatenate(found), first, count, sentences)


def _by_word(query: str, *, whole: bool) -> Callable[[Searched], tuple[Bools, int]]:
    query = query.casefold()

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


def _by_text(query: str) -> Callable[[Searched], tuple[Bools, int]]:
    """Of sentences with these words: no letter or digit may touch the first or the last one."""
    import pyarrow.compute as pc

    words = [re.escape(word) for word in SURROGATE.sub("\ufffd", query).split()]  # as texts have it
    roughly = _BLANK.join(_I.sub(_I.pattern, word) for word in words)
    # Behind the first word, not before it: letters are compared faster than looked around.
    before = rf"(?<!\w{words[0]})" if re.match(r"\w", query) else ""
    after = r"(?!\w)" if re.match(r"\w", query[-1]) else ""
    exact = re.compile(r"\s+".join([words[0] + before, *words[1:]]) + after, re.IGNORECASE)

    def search(part: Searched) -> tuple[Bools, int]:
        matching = np.zeros(part.count, dtype=np.bool_)
        numbers, texts = part.texts()
        has = pc.match_substring_regex(texts, roughly, ignore_case=True)
        has = has.to_numpy(zero_copy_only=False)
        if not has.any():
            return matching, 0
        read = texts.filter(has).to_pylist()
        starts = list(accumulate((len(text) + 1 for text in read), initial=0))
        matches = np.array(
            [
                (start + match.start(), start + match.end())
                for text, start in zip(read, starts, strict=False)
                for match in exact.finditer(text)
            ]
        ).reshape(-1, 2)
        # The sentences are laid one after the other, so that all tokens are compared at once.
        spans, special = part.spans()
        own, sizes = _of_sentences(part.sentence(), numbers[has])
        offsets = np.repeat(starts[:-1], sizes)
        in_text = ~special[own]
        own, offsets = own[in_text], offsets[in_text]
        overlapping, places = overlaps(spans[own] + offsets[:, None], matches)
        matching[own[overlapping]] = True
        return matching, places

    return search


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
    first = np.searchsorted(matches[:, 1], spans[:, 0], side="right")  # to end after a span's start
    end = np.searchsorted(matches[:, 0], spans[:, 1], side="left")  # to start after its end
    overlapping = first < end
    change = np.zeros(len(matches) + 1, dtype=np.intp)
    np.add.at(change, first[overlapping], 1)
    np.add.at(change, end[overlapping], -1)
    return overlapping, int((np.cumsum(change[:-1]) > 0).sum())
