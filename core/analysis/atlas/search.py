"""Find tokens in the corpus of an atlas: whole, by a part, by a phrase, by an expression."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas

    Spans = Iterator[tuple[int, int]]

Kind = Literal["token", "substring", "phrase", "regex"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase", "regex")
LONGEST_QUERY = 200  # characters
TIME_LIMIT = 0.8  # seconds a regular expression may take over the whole corpus
MOST_WRITTEN_OUT = 200_000  # characters of one with its counted repetitions written out: 50 MB
_COUNT = re.compile(r"\{([^,}]*)")  # of a repetition, at least


class SearchError(ValueError):
    """What was typed cannot be searched for; the message says why."""


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
        a regular expression over the text of each sentence. Special tokens are in no text: only
        the first two kinds find them.

    Raises
    ------
    SearchError
        When nothing is typed, a pattern is no regular expression, or takes too long.
    """
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > LONGEST_QUERY:
        raise SearchError(
            f"What is looked for has {len(query):,} characters; at most {LONGEST_QUERY} can be."
        )
    if kind in ("token", "substring"):
        found = _by_token(atlas, query.casefold(), whole=kind == "token")
        return Matches(found, int(found.sum()), _sentences(atlas, found))
    return _by_text(atlas, _phrase(query) if kind == "phrase" else _pattern(query))


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


def _pattern(query: str) -> Callable[[str], Spans]:
    import regex

    query = query.replace("\n", " ")  # would end a comment, which could then hide a repetition
    if _written_out(query) > MOST_WRITTEN_OUT:
        raise SearchError("This expression repeats too much: make the numbers in braces smaller.")
    try:
        pattern = regex.compile(query, regex.IGNORECASE)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise SearchError(f"This is no regular expression: {error}.") from None
    left = TIME_LIMIT

    def spans(text: str) -> Spans:
        nonlocal left
        began = time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            for found in pattern.finditer(text, timeout=left, concurrent=True):
                yield found.span()
        except (TimeoutError, MemoryError, RecursionError):
            raise SearchError(
                f"This expression was stopped after {TIME_LIMIT} seconds: it may never end. Make"
                " repetitions inside of repetitions simpler."
            ) from None
        finally:
            left -= time.monotonic() - began

    return spans


def _written_out(query: str) -> int:
    """At most so long is an expression in which each repetition stands as often as it must.

    That is how it is compiled, before any time limit: a few nested counts would fill the memory.
    """
    size = len(query)
    for count in _COUNT.findall(query):
        digits = "".join(letter for letter in count if letter.isdecimal())
        size *= max(1, int(digits or 1))
    return size


def _by_text(atlas: Atlas, spans: Callable[[str], Spans]) -> Matches:
    tokens = atlas.tokens
    found = np.zeros(len(tokens), dtype=np.bool_)
    count = 0
    for index, text in enumerate(atlas.sentences):
        places = [(start, end) for start, end in spans(text) if end > start]
        if not places:
            continue
        starts, ends = np.array(places).T
        which = tokens.of_sentence(index)
        first, last = tokens.spans[which, 0, None], tokens.spans[which, 1, None]
        inside = (first < ends) & (last > starts) & ~tokens.special[which, None]  # (token, place)
        found[which] = inside.any(axis=1)
        count += int(inside.any(axis=0).sum())
    return Matches(found, count, _sentences(atlas, found))


def _sentences(atlas: Atlas, found: NDArray[np.bool_]) -> int:
    return int(np.unique(atlas.tokens.sentence[found]).size)
