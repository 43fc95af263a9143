"""The most striking link of a text: which head joins two of its words most strongly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.model.trace import Array, Token, Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    from core.analysis.found_link import FoundLink

_MIN_DISTANCE = 2  # words: in almost every model neighbours attend to each other, which is not news


@dataclass(frozen=True)
class Link:
    """A query position, a key position, and the head (layer and head from 0) that joins them."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


def strongest_link(
    trace: Trace, layers: Iterable[int] | None = None, min_distance: int = _MIN_DISTANCE
) -> Link | None:
    """The largest attention weight between two different ordinary words that are not neighbours.

    Looks at all layers, or at those given (from 0). Special tokens, punctuation, repetitions of a
    word, and words fewer than `min_distance` apart do not count: many heads rest on them, which
    says little about the sentence. Of an image, words are patches, and those that touch are
    neighbours; words of two texts never are. None when no such pair exists.
    """
    (names, wordlike), keys = map(_words_of, (trace.tokens, trace.key_tokens))
    pairs = wordlike[:, None] & keys[1] & (names[:, None] != keys[0])
    pairs &= trace.input.apart() >= min_distance
    if not pairs.any():
        return None
    links = []
    for layer in range(trace.shape[0]) if layers is None else layers:
        weights = np.where(pairs, trace.attention(layer), 0.0)  # (head, token, key token)
        head, query, key = map(int, np.unravel_index(int(weights.argmax()), weights.shape))
        links.append(Link(layer, head, query, key, float(weights[head, query, key])))
    best = max(links, key=lambda link: link.weight)
    return best if best.weight > 0 else None


def _words_of(tokens: Sequence[Token]) -> tuple[NDArray[Any], ...]:
    """Of each token: how it reads, and whether it has letters."""
    ordinary = [not each.special and any(map(str.isalpha, each.display)) for each in tokens]
    names = [each.display.casefold() for each in tokens]
    return np.array(names), np.array(ordinary)


@dataclass(frozen=True, eq=False)
class Arcs:
    """A head's strongest links among the ordinary tokens of (a stretch of) a text."""

    values: Array  # attention between the tokens shown, float32 (row, column)
    words: tuple[str, ...]  # their labels
    targets: tuple[int | None, ...]  # for each row, the other column it attends to most, if any
    strongest: int  # the row of the link the picture is about
    left_out: int  # how many ordinary tokens are not shown
    gap: int | None = None  # the row after which tokens are left out, if they are


def arcs_around(trace: Trace, link: Link | FoundLink, max_tokens: int = 26) -> Arcs:
    """The head of `link`, on at most `max_tokens` ordinary tokens that include the link's two."""
    ordinary = [token.position for token in trace.tokens if not token.special]
    first, last = sorted((ordinary.index(link.query), ordinary.index(link.key)))
    start = max(0, min(first, len(ordinary) - max_tokens))
    shown, gap = ordinary[start : start + max_tokens], None
    if last >= start + max_tokens:  # too far apart: the middle is left out
        half = max_tokens // 2
        gap = half - 1
        shown = [*ordinary[first : first + half], *ordinary[last - half + 1 : last + 1]]
    values = trace.attention(link.layer, link.head)[np.ix_(shown, shown)]
    labels = labels_of(trace.tokens)
    best = np.where(np.eye(len(shown), dtype=bool), -1.0, values).argmax(axis=1)
    strongest = shown.index(link.query)
    best[strongest] = shown.index(link.key)
    return Arcs(
        values=values,
        words=tuple(labels[position] for position in shown),
        targets=tuple(
            int(column) if values[row, column] > 0 else None for row, column in enumerate(best)
        ),
        strongest=strongest,
        left_out=len(ordinary) - len(shown),
        gap=gap,
    )
