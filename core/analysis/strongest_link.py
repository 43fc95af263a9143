"""The strongest link between two words of a text: of each head, of all, and beyond its layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.model.trace import Array, Token, Trace, kept

_MIN_DISTANCE = 2  # words: in almost every model neighbours attend to each other, which is no news
_SINK = 0.35  # of a head's attention, averaged over the other tokens: such a key is a sink
# English words that name nothing. Third-person pronouns stand for something that does.
_STOP_WORDS = """
a an the this that these those and or but so if as than then when while because no not of in on at
to by for from with into about i me my we us our you your is are was were be been am do does did
have has had will would can could too very just oh
"""


@dataclass(frozen=True)
class Link:
    """A query position, a key position, and the head (layer and head from 0) that links them."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


@dataclass(frozen=True)
class FoundLink(Link):
    """A link worth showing first.

    Attributes
    ----------
    mean : what the layer's heads give the pair on average; `weight` minus this is its lift.
    joins_words : whether it joins two content words, neither neighbours nor a sink.
    """

    mean: float
    joins_words: bool


@kept
def find_link(trace: Trace) -> FoundLink | None:
    """The head to show first, at the pair that it lifts most above its layer's mean.

    The pair is two content words: whole, alphabetic, not stop words, different, not neighbours, and
    the key not a sink. If a text has no such pair, any two words or tokens; None if it has only
    one token. Holds one layer's attention in memory at a time: 4 bytes x heads x tokens
    squared.
    """
    sides = (trace.tokens, trace.key_tokens)
    (names, wordlike), (key_names, key_wordlike) = map(_words_of, sides)
    content, key_content = map(_content_of, sides)
    ordinary, key_ordinary = (np.array([not each.special for each in side]) for side in sides)
    apart = trace.input.apart()
    pairs = content[:, None] & key_content & (names[:, None] != key_names)
    return (
        _most_lifted(trace, pairs & (apart >= _MIN_DISTANCE), _SINK, joins_words=True)
        or _most_lifted(trace, wordlike[:, None] & key_wordlike & (apart >= 1), joins_words=False)
        or _most_lifted(trace, ordinary[:, None] & key_ordinary & (apart >= 1), joins_words=False)
    )


def _most_lifted(
    trace: Trace, pairs: Bools, sink: float = np.inf, *, joins_words: bool
) -> FoundLink | None:
    """The most lifted of `pairs`, (token, key token), in any head; its key must not be a `sink`."""
    ordinary = np.array([not token.special for token in trace.tokens])
    best, found = 0.0, None
    for layer in range(trace.shape[0]) if pairs.any() else ():
        weights = trace.attention(layer)
        mean = weights.mean(axis=0)
        of_others = weights[:, ordinary].sum(axis=1)[:, None] - weights
        is_sink = of_others >= sink * max(1, int(ordinary.sum()) - 1)
        lift = np.where(pairs & ~is_sink, weights - mean, -1.0)
        place = np.unravel_index(int(lift.argmax()), lift.shape)
        if lift[place] > best:
            head, query, key = map(int, place)
            best, values = float(lift[place]), (float(weights[place]), float(mean[query, key]))
            found = FoundLink(layer, head, query, key, *values, joins_words)
    return found


def strongest_link(trace: Trace, layers: Iterable[int] | None = None) -> Link | None:
    """The largest attention weight between two different ordinary words that are not neighbours.

    Looks at all layers, or at those given (from 0), as :func:`strongest_links` does. None if there
    is no such pair.
    """
    links = [link for row in strongest_links(trace, layers) for link in row]
    best = max(links, key=lambda link: link.weight, default=None)
    return best if best is not None and best.weight > 0 else None


def strongest_links(trace: Trace, layers: Iterable[int] | None = None) -> list[list[Link]]:
    """The same for each head: a list for every layer; empty if there is no such pair.

    Special tokens, punctuation, repeated words and neighbours do not count: many heads rest
    on them, which says little about the sentence. In an image, patches are the words, and patches
    that touch are neighbours; words of two texts never are.
    """
    (names, wordlike), keys = map(_words_of, (trace.tokens, trace.key_tokens))
    pairs = wordlike[:, None] & keys[1] & (names[:, None] != keys[0])
    pairs &= trace.input.apart() >= _MIN_DISTANCE
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
    """The largest of a head's weights, (token, key token), among these pairs."""
    candidates = np.where(pairs, weights, 0.0)
    query, key = map(int, np.unravel_index(int(candidates.argmax()), candidates.shape))
    return Link(layer, head, query, key, float(candidates[query, key]))


def _content_of(tokens: Sequence[Token]) -> Bools:
    """Whether each token is a whole word that names something."""
    names, wordlike = _words_of(tokens)
    pieces = Counter(token.word for token in tokens)
    whole = [pieces[each.word] == 1 and each.display.isalpha() for each in tokens]
    return wordlike & whole & ~np.isin(names, _STOP_WORDS.split())


def _words_of(tokens: Sequence[Token]) -> tuple[NDArray[Any], ...]:
    """For each token: its case-folded text, and whether it is an ordinary word with letters."""
    ordinary = [not each.special and any(map(str.isalpha, each.display)) for each in tokens]
    names = [each.display.casefold() for each in tokens]
    return np.array(names), np.array(ordinary)
