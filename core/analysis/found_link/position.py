"""What a head would give a pair of tokens whatever their words: by distance, or to that key anyway.

A head that looks six tokens back gives 1.00 to any word that stands there, and a sink gets much
from every query. What a pair has beyond both is its lead.
"""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Bools, Floats, Indices
from core.model.trace import Array


def leads(
    weights: Array, allowed: Bools, counted: tuple[Bools, Bools], queries: Indices, keys: Indices
) -> Floats:
    """Attention on each pair less the larger of its two baselines, float64 (head, pair).

    The baselines are the mean over the other queries at the same distance, and the mean that other
    queries give to this key; a baseline that has no other pair does not count, and nan is where
    neither has one.

    Parameters
    ----------
    weights : attention, (head, token, key token).
    allowed : which pairs are permitted, that or (1, token, key token).
    counted : which queries and which keys are ordinary tokens.
    queries, keys : positions of the pairs, (pair,).
    """
    ordinary = allowed & counted[0][:, None] & counted[1]
    offsets = keys - queries
    by_distance = np.full((len(weights), len(queries)), np.nan)
    pairs = weights[:, queries, keys].astype(np.float64)
    for offset in np.unique(offsets):
        at = offsets == offset
        mask = np.diagonal(ordinary, offset, 1, 2)
        values = np.diagonal(weights, offset, 1, 2)
        by_distance[:, at] = _mean_of_others((values * mask).sum(-1), mask.sum(-1), pairs[:, at])
    own = np.eye(*weights.shape[1:], dtype=np.bool_)
    others = ordinary & ~own if len(counted[0]) == len(counted[1]) else ordinary
    sums = (weights * others).sum(axis=1, dtype=np.float64)[:, keys]
    to_key = _mean_of_others(sums, others.sum(axis=1)[:, keys], pairs)
    return pairs - np.fmax(by_distance, to_key)


def key_leads(
    weights: Array, counted: tuple[Bools, Bools], queries: Indices, keys: Indices
) -> Floats:
    """The same for cross attention, where distances mean nothing: against the key's mean alone."""
    pairs = weights[:, queries, keys].astype(np.float64)
    rows = weights[:, counted[0]]
    count = np.full((1, len(keys)), rows.shape[1])
    return pairs - _mean_of_others(rows.sum(axis=1, dtype=np.float64)[:, keys], count, pairs)


def _mean_of_others(sums: Floats, counts: Indices, own: Floats) -> Floats:
    """Means without the pair itself, (head, pair); nan where it is alone. Sums and counts with."""
    if sums.ndim == 1:
        sums, counts = sums[:, None], counts[:, None]
    counts = np.broadcast_to(counts - 1, own.shape)
    return np.divide(sums - own, counts, out=np.full(own.shape, np.nan), where=counts > 0)
