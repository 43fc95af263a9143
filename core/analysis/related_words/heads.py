"""Which heads attend to related words more than their positions alone explain.

A head that looks at nouns or neighbours gives related words something whether it recognises them or
not. So within each sentence the counted words are dealt out at random to the positions they share,
while attention stays: what a head gives to the pairs of a thousand such arrangements is what it
gives to positions, and it follows relatedness when its real share exceeds nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.head_patterns.registry import CHANCE_LEVEL as LEVEL
from core.analysis.pairs import permitted_pairs
from core.analysis.related_words.words import RelatedWords
from core.model.trace import Array, Trace

Scope = Literal["text", "other"]  # pairs of the whole text, or of different sentences only

# As many arrangements as MAX_SUMS allows. With each of these numbers LEVEL is a whole number of
# arrangements, the real one included: 10 of 1,000, 2 of 200, 1 of 100.
ARRANGEMENTS = (999, 199, 99)
MAX_SUMS = 500_000_000  # weights to add up: some five seconds on one core
_SEED = 0


@dataclass(frozen=True, eq=False)
class RelatedHeads:
    """What each head gives to related words, and to their positions in random arrangements."""

    scores: Floats  # mean over the tokens with a permitted related word, (layer, head); or nan
    mean: Floats  # of the arrangements, (layer, head)
    upper: Floats  # what fewer than `LEVEL` of them exceed
    holds: Bools  # whether the score is above `upper`
    pairs: int  # how many pairs of a query and a key are related in this scope
    arrangements: int  # how many were drawn; 0 where the pairs are too many to test
    unmoved: int  # in how many the pairs are back where they were: too many cannot rule out chance

    @property
    def decidable(self) -> bool:
        """Whether any head could pass on this text."""
        drawn = self.arrangements > 0 and bool(np.isfinite(self.scores).any())
        return drawn and self.unmoved < round(LEVEL * (self.arrangements + 1))

    def ranked(self) -> list[tuple[int, int]]:
        """(layer, head) of all heads that were measured, farthest above `upper` first."""
        lead = (self.scores - self.upper).ravel()
        heads = self.scores.shape[1]
        order = np.argsort(-lead, kind="stable")  # nan comes last
        return [divmod(int(i), heads) for i in order if np.isfinite(lead[i])]


def related_heads(trace: Trace, words: RelatedWords, scope: Scope = "text") -> RelatedHeads:
    """The share of attention that every head gives to related words, against its arrangements.

    One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    layers, heads, size, _ = trace.shape
    segments = np.array([token.segment for token in trace.tokens])
    related = words.pairs & (segments[:, None] != segments) if scope == "other" else words.pairs
    queries, keys = np.nonzero(related)
    sums = len(queries) * layers * heads
    count = next((each for each in ARRANGEMENTS if each * sums <= MAX_SUMS), 0)
    if len(queries) == 0 or count == 0:
        unknown = np.full((layers, heads), np.nan)
        return RelatedHeads(unknown, unknown, unknown, unknown > 0, len(queries), 0, 0)
    places = arrange(words.counted, segments, count)  # (1 + arrangement, token)
    measured = [
        pair_shares(trace.attention(layer), permitted_pairs(trace, layer), places, queries, keys)
        for layer in range(layers)
    ]
    shares = np.stack(measured, axis=1)  # (1 + arrangement, layer, head)
    real, others = shares[0], shares[1:]
    upper = np.sort(others, axis=0)[-round(LEVEL * (count + 1))]
    where = np.sort(queries * size + keys)
    return RelatedHeads(
        scores=real,
        mean=others.mean(axis=0),
        upper=upper,
        holds=real > upper,
        pairs=len(queries),
        arrangements=count,
        unmoved=sum(
            np.array_equal(np.sort(place[queries] * size + place[keys]), where)
            for place in places[1:]
        ),
    )


def arrange(counted: Bools, segments: NDArray[np.int_], count: int) -> Indices:
    """Where the word of each position goes, (1 + count, token); the first row is the real one.

    The counted words of a sentence swap places; all others stay.
    """
    generator = np.random.default_rng(_SEED)
    places = np.tile(np.arange(len(counted)), (count + 1, 1))
    for segment in np.unique(segments):
        own = np.flatnonzero(counted & (segments == segment))
        for row in places[1:]:
            row[own] = generator.permutation(own)
    return places


def pair_shares(
    attention: Array,
    allowed: Bools,
    places: Indices,
    queries: Indices,
    keys: Indices,
) -> Floats:
    """Attention on the pairs of each arrangement, float64 (arrangement, head).

    The sum over the permitted pairs, divided by the number of queries that have one. `attention` is
    (head, token, token), `allowed` that or (1, token, token); `places` as :func:`arrange` gives
    them; `queries` and `keys` are the positions of the pairs, (pair,).
    """
    heads, size, _ = attention.shape
    flat = attention.reshape(heads, -1)
    permitted = allowed.reshape(len(allowed), -1)
    shares = np.full((len(places), heads), np.nan)
    for row, place in enumerate(places):
        cells = place[queries] * size + place[keys]
        visible = permitted[:, cells]  # (1 or head, pair)
        has_pair = np.zeros((len(visible), size), dtype=np.bool_)
        for head, pairs in enumerate(visible):
            has_pair[head, place[queries[pairs]]] = True
        counts = has_pair.sum(axis=1)
        sums = (flat[:, cells] * visible).sum(axis=1, dtype=np.float64)
        np.divide(sums, counts, out=shares[row], where=counts > 0)
    return shares
