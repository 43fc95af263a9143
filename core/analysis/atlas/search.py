"""Find tokens in the corpus of an atlas: whole, by a part, by a phrase, by a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.atlas.expression import SearchError, expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.analysis.arrays import Bools, Indices
    from core.analysis.atlas.data import Atlas
    from core.analysis.atlas.expression import Spans

    Ints = NDArray[np.integer]

Kind = Literal["token", "substring", "phrase", "regex"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase", "regex")
MAX_QUERY = 200  # characters


@dataclass(frozen=True, eq=False)
class Matches:
    """The result of a search."""

    tokens: Bools  # which tokens match, or are part of a match, (token,)
    count: int  # tokens, or places in the text that have one
    sentences: int  # how many have a match


def search_tokens(atlas: Atlas, query: str, kind: Kind = "token") -> Matches:
    """Tokens of the corpus that match, ignoring case.

    The kind "token" is a whole token as it is shown or as the tokenizer writes it, "substring" a
    part of one, "phrase" whole words in this order, "regex" a regular expression (RE2) over the
    text of each sentence. Special tokens are in no text, so only the first two kinds find them.
    Raises `SearchError` when the query is empty or too long, no expression, or takes too long.
    """
    query = check_query(query)
    if kind in ("token", "substring"):
        matching = _by_token(atlas, query.casefold(), whole=kind == "token")
        return _matches(atlas, matching, int(matching.sum()))
    return _by_text(atlas, phrase(query) if kind == "phrase" else expression(query))


def check_query(query: str) -> str:
    """The query without blanks around it; `SearchError` when it is empty or too long."""
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > MAX_QUERY:
        raise SearchError(f"The search has {len(query):,} characters; the limit is {MAX_QUERY}.")
    return query


def phrase_positions(atlas: Atlas, words: str) -> dict[int, Indices]:
    """Positions of the tokens that are part of the phrase, by sentence; errors as in a search."""
    tokens = np.flatnonzero(search_tokens(atlas, words, "phrase").tokens)
    sentences = atlas.tokens.sentence[tokens]
    return {
        int(one): atlas.tokens.position[tokens[sentences == one]].astype(np.intp)
        for one in np.unique(sentences)
    }


def _by_token(atlas: Atlas, query: str, *, whole: bool) -> Bools:
    texts, displays = atlas.tokens.texts, atlas.tokens.displays
    matching = {
        name
        for name in {*texts, *displays}
        if (name.casefold() == query if whole else query in name.casefold())
    }
    pairs = zip(texts, displays, strict=True)
    return np.array([not matching.isdisjoint(pair) for pair in pairs], dtype=np.bool_)


def phrase(query: str) -> Callable[[str], Spans]:
    """Whole words: no letter or digit may touch the first or the last one."""
    first, *others = map(re.escape, query.split())
    # Behind the first word, not before it: letters are compared faster than looked around.
    before = rf"(?<!\w{first})" if re.match(r"\w", query) else ""
    after = r"(?!\w)" if re.match(r"\w", query[-1]) else ""
    pattern = re.compile(r"\s+".join([first + before, *others]) + after, re.IGNORECASE)
    return lambda text: map(re.Match.span, pattern.finditer(text))


def _by_text(atlas: Atlas, spans: Callable[[str], Spans]) -> Matches:
    tokens = atlas.tokens
    matching = np.zeros(len(tokens), dtype=np.bool_)
    count = 0
    for index, text in enumerate(atlas.sentences):
        matches = [(start, end) for start, end in spans(text) if end > start]
        if not matches:
            continue
        own = tokens.of_sentence(index)
        own = own[~tokens.special[own]]
        overlapping, overlapped = overlaps(tokens.spans[own], np.array(matches))
        matching[own[overlapping]] = True
        count += overlapped
    return _matches(atlas, matching, count)


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


def _matches(atlas: Atlas, matching: Bools, count: int) -> Matches:
    return Matches(matching, count, int(np.unique(atlas.tokens.sentence[matching]).size))
