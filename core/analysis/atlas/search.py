"""Find tokens in the corpus of an atlas: whole, by a part, by a phrase, by an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.atlas.expression import SearchError, expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas
    from core.analysis.atlas.expression import Spans

    Ints = NDArray[np.integer]

Kind = Literal["token", "substring", "phrase", "regex"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase", "regex")
MAX_QUERY = 200  # characters


@dataclass(frozen=True, eq=False)
class Matches:
    """What a search found.

    Attributes
    ----------
    tokens : which tokens match, or are part of a match, (token,).
    count : matches: tokens, or for a phrase or a regular expression places in the text, but for
        those that lie between tokens, as blanks do.
    sentences : in how many sentences.
    """

    tokens: NDArray[np.bool_]
    count: int
    sentences: int


def search_tokens(atlas: Atlas, query: str, kind: Kind = "token") -> Matches:
    """Tokens of the corpus that match, whatever their case; the first position is one like others.

    Parameters
    ----------
    kind : "token", the whole token as it is shown or as the tokenizer writes it; "substring", a
        part of a token; "phrase", whole words in this order, which may be of many tokens; "regex",
        a regular expression over the text of each sentence, as RE2 has them. Special tokens are in
        no text: only the first two kinds find them.

    Raises
    ------
    SearchError
        When nothing is typed, a pattern is no regular expression, or takes too long.
    """
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > MAX_QUERY:
        raise SearchError(
            f"What is looked for has {len(query):,} characters; at most {MAX_QUERY} can be."
        )
    if kind in ("token", "substring"):
        found = _by_token(atlas, query.casefold(), whole=kind == "token")
        return Matches(found, int(found.sum()), _sentences(atlas, found))
    return _by_text(atlas, _phrase(query) if kind == "phrase" else expression(query))


def phrase_places(atlas: Atlas, phrase: str) -> dict[int, NDArray[np.intp]]:
    """Which tokens of which sentences are part of the phrase: positions, by sentence.

    Raises
    ------
    SearchError
        As :func:`search_tokens` does.
    """
    found = search_tokens(atlas, phrase, "phrase").tokens
    places = np.flatnonzero(found)
    sentences = atlas.tokens.sentence[places]
    return {
        int(one): atlas.tokens.position[places[sentences == one]].astype(np.intp)
        for one in np.unique(sentences)
    }


def _by_token(atlas: Atlas, query: str, *, whole: bool) -> NDArray[np.bool_]:
    def fits(text: str) -> bool:
        return text == query if whole else query in text

    fitting = {
        name
        for names in (set(atlas.tokens.texts), set(atlas.tokens.displays))
        for name in names
        if fits(name.casefold())
    }
    pairs = zip(atlas.tokens.texts, atlas.tokens.displays, strict=True)
    return np.array([text in fitting or shown in fitting for text, shown in pairs], dtype=np.bool_)


def _phrase(query: str) -> Callable[[str], Spans]:
    """Whole words: a letter or digit beside the first or last one would be part of another word."""
    words = r"\s+".join(re.escape(word) for word in query.split())
    before = r"(?<!\w)" if re.match(r"\w", query) else ""
    after = r"(?!\w)" if re.match(r"\w", query[-1]) else ""
    pattern = re.compile(before + words + after, re.IGNORECASE)
    return lambda text: (found.span() for found in pattern.finditer(text))


def _by_text(atlas: Atlas, spans: Callable[[str], Spans]) -> Matches:
    tokens = atlas.tokens
    found = np.zeros(len(tokens), dtype=np.bool_)
    count = 0
    for index, text in enumerate(atlas.sentences):
        places = [(start, end) for start, end in spans(text) if end > start]
        if not places:
            continue
        own = tokens.of_sentence(index)
        own = own[~tokens.special[own]]
        touching, touched = _overlaps(tokens.spans[own], np.array(places))
        found[own[touching]] = True
        count += touched
    return Matches(found, count, _sentences(atlas, found))


def _overlaps(spans: Ints, places: Ints) -> tuple[NDArray[np.bool_], int]:
    """Which tokens overlap a match, (token,), and how many matches overlap a token.

    `spans` are (token, 2), first character and last + 1; `places` (match, 2) come in order and do
    not overlap each other. Takes memory for tokens and matches, not for each pair of both.
    """
    begin = np.searchsorted(places[:, 1], spans[:, 0], side="right")  # matches that end after it
    end = np.searchsorted(places[:, 0], spans[:, 1], side="left")  # those that begin before its end
    touching = begin < end
    change = np.zeros(len(places) + 1, dtype=np.intp)
    np.add.at(change, begin[touching], 1)
    np.add.at(change, end[touching], -1)
    return touching, int((np.cumsum(change[:-1]) > 0).sum())


def _sentences(atlas: Atlas, found: NDArray[np.bool_]) -> int:
    return int(np.unique(atlas.tokens.sentence[found]).size)
