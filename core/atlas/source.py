"""An atlas as pages use it, wherever its tokens are, and the search for tokens and patches in it.

Each distinct text is compared once. Arrow finds the sentences that have a phrase's words in order,
millions of words a second; only those are then checked for whole words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.atlas.data import Atlas
from core.atlas.tables import FileTables, MemoryTables, shortened
from core.records import RecordError, well_formed

Ints = NDArray[np.integer]
MatchKind = Literal["token", "substring", "phrase"]
Tables = FileTables | MemoryTables
MATCH_KINDS: tuple[MatchKind, ...] = ("token", "substring", "phrase")
MAX_QUERY = 200  # characters
_BLANK = r"[\s\pZ\x0b\x1c-\x1f\x85]+"  # what Python counts as whitespace
_I = re.compile("[iIİı]")  # the only letters whose case Arrow ignores less than Python does


class SearchError(ValueError):
    """The search cannot be run; the message says why."""


@dataclass(frozen=True, eq=False)
class Matches:
    """The result of a search.

    Attributes
    ----------
    indices : of the tokens that match, or are part of a match, ascending, among all tokens.
    size : how many tokens were searched.
    count : how many tokens match or, for a phrase, places in the text that contain one.
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


@dataclass(frozen=True, eq=False)
class Source:
    """An atlas; methods raise `RecordError` if one of its files is damaged.

    Attributes
    ----------
    sample : what is in memory: all of it, or some random sentences, renumbered.
    groups : the tables of all its tokens, if the sample does not have them.
    """

    sample: Atlas
    groups: tuple[FileTables, ...] = ()

    def search(self, query: str, kind: MatchKind = "token") -> Matches:
        """All its tokens that match, as :func:`search_tokens` finds them, or patches."""
        if self.sample.images is not None:
            return search_patches(self.sample, query)
        return search_tables(self.groups or [MemoryTables(self.sample.texts)], query, kind)

    def table(self, found: Matches, rows: int) -> pd.DataFrame:
        """A row for each token found in the groups, the first `rows`: what, where, in what."""
        indices = found.indices[:rows]
        firsts = [group.first for group in self.groups]
        owners = np.searchsorted(firsts, indices, side="right") - 1
        parts = ((self.groups[owner], indices[owners == owner]) for owner in np.unique(owners))
        return pd.concat((_rows(part, ids - part.first) for part, ids in parts), ignore_index=True)


def search_tokens(atlas: Atlas, query: str, kind: MatchKind = "token") -> Matches:
    """Tokens of the corpus that match, ignoring case.

    The kind "token" is a whole token as it is shown or as the tokenizer writes it, "substring" a
    part of one, such as its beginning, "phrase" whole words in this order. Special tokens are not
    in the text, so only the first two kinds find them. Raises `SearchError` if the query is empty
    or too long.
    """
    return search_tables([MemoryTables(atlas.texts)], query, kind)


def search_patches(atlas: Atlas, query: str) -> Matches:
    """All patches of the images whose names have the query in them.

    Raises `SearchError` if the query is empty or too long, `ValueError` for an atlas of texts.
    """
    if atlas.images is None:
        raise ValueError("an atlas of texts has no patches")
    needle = _asked(query).casefold()
    in_images = np.flatnonzero([needle in name.casefold() for name in atlas.sentences])
    place = atlas.images.places(atlas.tokens.position)
    indices = np.flatnonzero(np.isin(atlas.tokens.sentence, in_images) & (place >= 0))
    images = np.unique(atlas.tokens.sentence[indices]).size
    return Matches(indices, place.size, indices.size, int(images))


def search_tables(parts: Iterable[Tables], query: str, kind: MatchKind) -> Matches:
    """Tokens of all parts that match; kinds and errors as in `search_tokens`."""
    query = _asked(query)
    search = _by_text(query) if kind == "phrase" else _by_word(query, whole=kind == "token")
    found, count, sentences, first = [np.empty(0, dtype=np.int64)], 0, 0, 0
    for part in parts:
        matching, places = search(part)
        found.append(np.flatnonzero(matching) + first)
        count += places
        if places:  # parts are of whole sentences
            sentences += np.unique(part.tokens("sentence")[0][matching]).size
        first += part.count
    return Matches(np.concatenate(found), first, count, sentences)


def _asked(query: str) -> str:
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > MAX_QUERY:
        raise SearchError(f"The search has {len(query):,} characters; the limit is {MAX_QUERY}.")
    return query


def _by_word(query: str, *, whole: bool) -> Callable[[Tables], tuple[Bools, int]]:
    query = query.casefold()

    @cache  # most words are in every part
    def known(word: str) -> bool:
        folded = word.casefold()
        return folded == query if whole else query in folded

    def search(part: Tables) -> tuple[Bools, int]:
        matching = np.zeros(part.count, dtype=np.bool_)
        for column in part.tokens("token", "display"):
            words = column.dictionary.to_pylist()
            chosen = np.fromiter(map(known, words), dtype=np.bool_, count=len(words))
            if chosen.any():
                matching |= chosen[column.indices.to_numpy()]
        return matching, int(matching.sum())

    return search


def _by_text(query: str) -> Callable[[Tables], tuple[Bools, int]]:
    """Sentences with these words: no letter or digit may touch the first or the last one."""
    words = [re.escape(word) for word in well_formed(query).split()]  # normalised like the texts
    roughly = _BLANK.join(_I.sub(_I.pattern, word) for word in words)
    # Checked after the first word, not before it: comparing letters is faster than lookbehind.
    before = rf"(?<!\w{words[0]})" if re.match(r"\w", query) else ""
    after = r"(?!\w)" if re.match(r"\w", query[-1]) else ""
    exact = re.compile(r"\s+".join([words[0] + before, *words[1:]]) + after, re.IGNORECASE)

    def search(part: Tables) -> tuple[Bools, int]:
        matching = np.zeros(part.count, dtype=np.bool_)
        numbers, column = part.sentences("sentence", "text")
        has = pc.match_substring_regex(column.dictionary, roughly, ignore_case=True)
        texts = column.filter(has.take(column.indices))
        if not len(texts):
            return matching, 0
        numbers = numbers[has.to_numpy(zero_copy_only=False)[column.indices.to_numpy()]]
        read = texts.cast(pa.large_string()).to_pylist()
        starts = list(accumulate((len(text) + 1 for text in read), initial=0))
        matches = np.array(
            [
                (start + match.start(), start + match.end())
                for text, start in zip(read, starts, strict=False)
                for match in exact.finditer(text)
            ]
        ).reshape(-1, 2)
        # Sentences are concatenated, so that all tokens are compared at once.
        sentence, special, *ends = part.tokens("sentence", "special", "start", "end")
        own, sizes = _of_sentences(sentence, numbers)
        offsets = np.repeat(starts[:-1], sizes)
        in_text = ~special[own]
        own, offsets = own[in_text], offsets[in_text]
        overlapping, places = overlaps(np.stack(ends, axis=1)[own] + offsets[:, None], matches)
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
    first = np.searchsorted(matches[:, 1], spans[:, 0], side="right")  # ends after the span's start
    end = np.searchsorted(matches[:, 0], spans[:, 1], side="left")  # starts after the span's end
    overlapping = first < end
    change = np.zeros(len(matches) + 1, dtype=np.intp)
    np.add.at(change, first[overlapping], 1)
    np.add.at(change, end[overlapping], -1)
    return overlapping, int((np.cumsum(change[:-1]) > 0).sum())


def _rows(part: FileTables, places: Ints) -> pd.DataFrame:
    """A row for each token at these places in a group."""
    sentence, position, displays = part.tokens("sentence", "position", "display")
    sentence, position = sentence[places], position[places]
    numbers, texts = part.sentences("sentence", "text")
    rows = np.searchsorted(numbers, sentence)
    if (rows == len(numbers)).any() or (numbers[rows] != sentence).any():
        raise RecordError("The tables of the atlas are of different sentences.")
    return pd.DataFrame(
        {
            "token": [shortened(text) for text in displays.take(places).to_pylist()],
            "position": position + 1,
            "sentence": sentence + 1,
            "text": texts.take(rows).to_pylist(),
        }
    )
