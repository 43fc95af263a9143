"""What an atlas measures of attention while a trace is there: by position, and between heads."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from core.analysis.arrays import Indices, in_threads
from core.analysis.head_patterns.similarity import Distances, add_distances, head_distances
from core.atlas.data import Positions
from core.atlas.priority import priorities
from core.model.trace import Array, Trace, softmax

MAX_POSITIONS = 32  # in the view by position; later ones are not averaged
COMPARED_EVERY = 5  # tokens: heads are compared on every fifth of a sentence
MEASURED_TOKENS = 20_000  # of a corpus: their mean distances are known to 0.003
# Weights of attention in memory at once, unless one sentence has more, or one layer of it.
_COMPARED_TOGETHER = _WEIGHTS_TOGETHER = 2**20
_COMPARED_BY_A_THREAD = 2**17  # weights at a time: they stay near the processor


class AttentionSums:
    """Attention by position and distances between heads, sentence after sentence.

    `share` of all sentences are measured, chosen by their numbers alone: attention is a third of
    the work, and its means settle long before a large corpus ends.
    """

    def __init__(self, layers: int, heads: int, share: float = 1.0) -> None:
        square = (MAX_POSITIONS, MAX_POSITIONS)
        self.positions = Positions(np.zeros((layers, heads, *square)), np.zeros(square))
        self._distances = Distances(np.zeros((layers * heads,) * 2), 0, 0)
        self._below = share * 2.0**64
        self._tokens = 0
        self._rows: list[Array] = []  # of attention to compare, (head, row, key)

    def copy(self) -> AttentionSums:
        """An independent copy."""
        other = copy(self)
        other.positions = Positions(self.positions.sums.copy(), self.positions.counts.copy())
        other._rows = list(self._rows)  # noqa: SLF001 - its own class
        return other

    def add(self, number: int, trace: Trace) -> None:
        """Measure the trace of the sentence with this number, or pass it by."""
        tokens = len(trace.tokens)
        self._tokens += tokens
        priority = int(priorities(np.array([number]))[0])
        if priority >= self._below:
            return
        shown = min(tokens, MAX_POSITIONS)
        self.positions.counts[:shown, :shown] += 1
        compared = compared_tokens(priority, tokens)
        wanted = np.union1d(np.arange(shown), compared)
        layers, heads = trace.shape[:2]
        together = max(1, _WEIGHTS_TOGETHER // (heads * wanted.size * tokens))
        rows = []
        for first in range(0, layers, together):
            some = slice(first, first + together)
            attention = attention_of(trace, some, wanted)
            self.positions.sums[some, :, :shown, :shown] += attention[:, :, :shown, :shown]
            chosen = attention[:, :, np.searchsorted(wanted, compared)]
            rows.append(chosen.reshape(-1, *chosen.shape[2:]))
        self._rows.append(rows[0] if len(rows) == 1 else np.concatenate(rows))
        if sum(part.size for part in self._rows) >= _COMPARED_TOGETHER:
            self._compare()

    def distances(self) -> Distances:
        """Between all heads, so far."""
        if self._rows:
            self._compare()
        return replace(self._distances, tokens=self._tokens)

    def _compare(self) -> None:
        longest = max(part.shape[2] for part in self._rows)
        # Zeros on padded keys make no difference between heads.
        padded = [
            np.pad(part, ((0, 0), (0, 0), (0, longest - part.shape[2]))) for part in self._rows
        ]
        rows = np.concatenate(padded, axis=1)
        self._rows.clear()
        step = max(1, _COMPARED_BY_A_THREAD // (rows.shape[0] * longest))
        some = (rows[:, first : first + step] for first in range(0, rows.shape[1], step))
        self._distances = add_distances([self._distances, *in_threads(_distances_of, some)])


def _distances_of(rows: Array) -> Distances:
    """Between all heads, summed over rows of their attention, (head, row, key)."""
    return Distances(head_distances(rows) * rows.shape[1], rows.shape[1], 0)


def attention_of(trace: Trace, layers: slice, tokens: Indices) -> Array:
    """The attention of these query tokens in some layers at once, (layer, head, token, key)."""
    rules, kv_keys, queries = trace.layers[layers], trace.kv_keys[layers], trace.queries[layers]
    if tokens.size < queries.shape[2]:
        queries = queries[:, :, tokens]
    kv_heads = kv_keys.shape[1]
    grouped = queries.reshape(len(rules), kv_heads, -1, *queries.shape[2:])
    products = grouped @ kv_keys[:, :, None].swapaxes(-1, -2)  # (layer, kv head, group, token, key)
    scores = products.reshape(*queries.shape[:3], -1)
    for place, rule in enumerate(rules):
        own = rule if rule.mask is None else replace(rule, mask=rule.mask[..., tokens, :])
        scores[place] = own.logits(scores[place])
    if all(rule.sink is None for rule in rules):
        return softmax(scores, out=scores)
    return np.stack([rule.weights(own) for rule, own in zip(rules, scores, strict=True)])


def share_to_measure(tokens: int) -> float:
    """The share of a corpus's sentences that are measured when it has so many tokens."""
    return min(1.0, MEASURED_TOKENS / max(tokens, 1))


def compared_tokens(priority: int, tokens: int) -> Indices:
    """The positions of a sentence on which heads are compared: every fifth, at least one.

    The first depends on the sentence's priority, so that all positions are compared alike.
    """
    return np.arange(priority % min(COMPARED_EVERY, tokens), tokens, COMPARED_EVERY)
