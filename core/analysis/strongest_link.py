"""The strongest link between two words of a text: of every head, and of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.model.trace import Array, Token, Trace

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

    Looks at all layers, or at those given (from 0), as :func:`strongest_links` does. None when no
    such pair exists.
    """
    links = [link for row in strongest_links(trace, layers, min_distance) for link in row]
    best = max(links, key=lambda link: link.weight, default=None)
    return best if best is not None and best.weight > 0 else None


def strongest_links(
    trace: Trace, layers: Iterable[int] | None = None, min_distance: int = _MIN_DISTANCE
) -> list[list[Link]]:
    """The same of each head: a list for every layer; empty when no such pair exists.

    Special tokens, punctuation, repetitions of a word, and words fewer than `min_distance` apart do
    not count: many heads rest on them, which says little about the sentence. Of an image, words are
    patches, and those that touch are neighbours; words of two texts never are.
    """
    (names, wordlike), keys = map(_words_of, (trace.tokens, trace.key_tokens))
    pairs = wordlike[:, None] & keys[1] & (names[:, None] != keys[0])
    pairs &= trace.input.apart() >= min_distance
    if not pairs.any():
        return []
    return [
        [
            _largest(weights, layer, head, pairs)
            for head, weights in enumerate(trace.attention(layer))
        ]
        for layer in (range(trace.shape[0]) if layers is None else layers)
    ]


def _largest(weights: Array, layer: int, head: int, pairs: Bools) -> Link:
    """The largest of a head's weights, (token, key token), on these pairs."""
    counted = np.where(pairs, weights, 0.0)
    query, key = map(int, np.unravel_index(int(counted.argmax()), counted.shape))
    return Link(layer, head, query, key, float(counted[query, key]))


def _words_of(tokens: Sequence[Token]) -> tuple[NDArray[Any], ...]:
    """Of each token: how it reads, and whether it has letters."""
    ordinary = [not each.special and any(map(str.isalpha, each.display)) for each in tokens]
    names = [each.display.casefold() for each in tokens]
    return np.array(names), np.array(ordinary)
