"""Which heads attend to related words, more than their places alone would have it.

A head that looks at nouns, at neighbours or at the other sentence gives related words something
whether it knows them or not. So the words change places: within each sentence the counted words are
dealt out at random to the places they take together, related pairs go where their words go, and the
attention stays as it is. What a head gives to the pairs of a thousand such arrangements is what it
gives to places; a head follows relatedness when its real share is above nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.related_words.words import RelatedWords
    from core.model.trace import Array, Trace

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

Scope = Literal["text", "other"]  # pairs of the whole text, or of different sentences only

LEVEL = 0.01  # the share of arrangements that may give a head as much
# Arrangements, the most that fit MOST_SUMS. With each of these numbers LEVEL is a whole number of
# arrangements, the real one counted among them: 10 of 1,000, 2 of 200, 1 of 100.
ARRANGEMENTS = (999, 199, 99)
MOST_SUMS = 500_000_000  # weights that are added up: some five seconds on one core
_SEED = 0


@dataclass(frozen=True, eq=False)
class RelatedHeads:
    """What each head gives to related words, and what it gives to them in other places.

    Attributes
    ----------
    scores : float64 (layer, head): attention to related words, mean over the tokens that have one
        which the model permits; nan where no token has.
    mean, upper : of the arrangements, (layer, head); `upper` is exceeded by fewer than `LEVEL`.
    holds : boolean (layer, head): above `upper`.
    pairs : how many pairs of a query and a key are related; 0 where none is, in this scope.
    arrangements : how many were drawn; 0 where the pairs are too many to be tested.
    unmoved : in how many of them the related pairs stood where they do. From `LEVEL` of them on the
        text has too few words to tell anything from accident.
    """

    scores: Floats
    mean: Floats
    upper: Floats
    holds: NDArray[np.bool_]
    pairs: int
    arrangements: int
    unmoved: int

    @property
    def decidable(self) -> bool:
        """Whether any head could pass on this text."""
        drawn = self.arrangements > 0 and bool(np.isfinite(self.scores).any())
        return drawn and self.unmoved < round(LEVEL * (self.arrangements + 1))

    def ranked(self) -> list[tuple[int, int]]:
        """(layer, head) of all heads that were measured, farthest above `upper` first."""
        lead = (self.scores - self.upper).ravel()
        heads = self.scores.shape[1]
        order = np.argsort(-lead, kind="stable")  # what is not a number comes last
        return [(int(i) // heads, int(i) % heads) for i in order if np.isfinite(lead[i])]


def related_heads(trace: Trace, words: RelatedWords, scope: Scope = "text") -> RelatedHeads:
    """The share of attention on related words of every head, and its arrangements.

    One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    layers, heads, size, _ = trace.shape
    segments = np.array([token.segment for token in trace.tokens])
    related = words.pairs & (segments[:, None] != segments) if scope == "other" else words.pairs
    queries, keys = np.nonzero(related)
    count = arrangement_count(len(queries) * layers * heads)
    if len(queries) == 0 or count == 0:
        return _untested((layers, heads), len(queries))
    places = arrange(words.counted, segments, count)  # (1 + arrangement, token)
    masses = np.stack(
        [
            masses_of(trace.attention(layer), permitted_pairs(trace, layer), places, queries, keys)
            for layer in range(layers)
        ],
        axis=1,
    )  # (1 + arrangement, layer, head)
    real, others = masses[0], masses[1:]
    upper = np.sort(others, axis=0)[-round(LEVEL * (count + 1))]
    return RelatedHeads(
        scores=real,
        mean=others.mean(axis=0),
        upper=upper,
        holds=np.nan_to_num(real, nan=-1) > np.nan_to_num(upper, nan=1),
        pairs=len(queries),
        arrangements=count,
        unmoved=_unmoved(places, queries, keys, size),
    )


def arrangement_count(sums: int) -> int:
    """How many arrangements are drawn where each costs so many sums; 0 where none can be paid."""
    return next((each for each in ARRANGEMENTS if each * sums <= MOST_SUMS), 0)


def arrange(counted: NDArray[np.bool_], segments: NDArray[np.int_], count: int) -> Places:
    """Where the word of each position goes, (1 + count, token); the first row is the real one.

    The counted words of a sentence change places with each other; all others stay.
    """
    draw = np.random.default_rng(_SEED)
    places = np.tile(np.arange(len(counted)), (count + 1, 1))
    for segment in np.unique(segments):
        own = np.flatnonzero(counted & (segments == segment))
        for row in places[1:]:
            row[own] = draw.permutation(own)
    return places


def masses_of(
    attention: Array,
    allowed: NDArray[np.bool_],
    places: Places,
    queries: Places,
    keys: Places,
) -> Floats:
    """Attention on the pairs at each arrangement's places, float64 (arrangement, head).

    Added up over the permitted pairs and divided by the queries that have one.

    Parameters
    ----------
    attention : (head, token, token).
    allowed : (1 or head, token, token).
    places : (arrangement, token), where the word of each position stands.
    queries, keys : the positions of the pairs, (pair,).
    """
    heads, size, _ = attention.shape
    flat = attention.reshape(heads, -1)
    permitted = allowed.reshape(len(allowed), -1)
    masses = np.full((len(places), heads), np.nan)
    for row, place in enumerate(places):
        cells = place[queries] * size + place[keys]
        free = permitted[:, cells]  # (1 or head, pair)
        asking = np.zeros((len(free), size), dtype=np.bool_)
        for head, each in enumerate(free):
            asking[head, place[queries[each]]] = True
        counts = asking.sum(axis=1)
        sums = (flat[:, cells] * free).sum(axis=1, dtype=np.float64)
        np.divide(sums, counts, out=masses[row], where=counts > 0)
    return masses


def _unmoved(places: Places, queries: Places, keys: Places, size: int) -> int:
    """How many arrangements put the pairs where they really are."""
    real = np.sort(queries * size + keys)
    return sum(
        np.array_equal(np.sort(place[queries] * size + place[keys]), real) for place in places[1:]
    )


def _untested(shape: tuple[int, int], pairs: int) -> RelatedHeads:
    unknown = np.full(shape, np.nan)
    nowhere = np.zeros(shape, dtype=np.bool_)
    return RelatedHeads(unknown, unknown, unknown, nowhere, pairs, 0, 0)
