"""Queries and keys as clouds: how long they are, and whether they can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.normalization import key_translation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Trace

    Floats = NDArray[np.float64]

# Tokens of a long text that separability is measured on, evenly spaced: distances of all pairs
# grow with the square of their number.
MOST_POINTS = 192
TIE = 1e-6  # relative; distances that differ by less are the same
LEAST_POINTS = 3  # tokens: with fewer, nothing is left to compare with


@dataclass(frozen=True, eq=False)
class Norms:
    """Lengths of queries and keys of every head, each (layer, head), in the model's own units.

    Attributes
    ----------
    query, key : mean length.
    difference : mean |q| - mean |k| (AttentionViz, Yeh et al. 2023, section 5.1.1).
    log_ratio : log2 of median |q| over median |k|; 1 is twice as long. Not a number where one of
        them is 0.
    apart, apart_after : distance of the centroids, as recorded and after key translation. The
        latter is rounding: translation is what makes it 0.
    """

    query: Floats
    key: Floats
    difference: Floats
    log_ratio: Floats
    apart: Floats
    apart_after: Floats


def vector_norms(trace: Trace) -> tuple[Floats, Floats]:
    """|q| and |k| of every head and token, float64 (layer, head, token) each."""
    return _lengths(trace.queries), np.repeat(_lengths(trace.kv_keys), trace.group, axis=1)


def norm_disparity(trace: Trace) -> Norms:
    """How lengths of queries and keys differ, and how far their clouds lie apart."""
    query, key = vector_norms(trace)
    means = query.mean(axis=-1), key.mean(axis=-1)
    medians = np.median(query, axis=-1), np.median(key, axis=-1)
    ratio = np.full(medians[0].shape, np.nan)
    known = (medians[0] > 0) & (medians[1] > 0)
    ratio[known] = np.log2(medians[0][known] / medians[1][known])
    shift = key_translation(trace.queries, trace.keys)
    rest = trace.queries - (trace.keys + shift[..., None, :].astype(np.float32))
    return Norms(
        query=means[0],
        key=means[1],
        difference=means[0] - means[1],
        log_ratio=ratio,
        apart=np.linalg.norm(shift, axis=-1),
        apart_after=np.linalg.norm(rest.mean(axis=-2, dtype=np.float64), axis=-1),
    )


def separability(trace: Trace) -> Floats:
    """How well queries and keys of a head can be told apart once their centroids meet.

    The share of vectors that are named right, query or key, each judged by the other tokens alone:
    these give the translation, and the vector goes to the cloud from which its energy distance is
    smaller, mean distance to the cloud's members less half their mean distance from each other
    (Szekely and Rizzo 2013). 0.5 is guessing: one cloud. 1: apart.

    After translation the means are equal: Fisher's criterion is 0, and a straight cut finds what
    skew it can. This also sees one cloud inside the other, and clouds along different directions.

    Returns float64 (layer, head); not a number for fewer than 3 tokens. Of texts longer than
    `MOST_POINTS` tokens, as many, evenly spaced, are used.
    """
    layers, heads, tokens, _ = trace.shape
    if tokens < LEAST_POINTS:
        return np.full((layers, heads), np.nan)
    picked = np.unique(np.linspace(0, tokens - 1, min(tokens, MOST_POINTS)).round().astype(int))
    groups = np.arange(heads) // trace.group
    return np.stack(
        [
            _named_right(
                trace.queries[layer][:, picked].astype(np.float64),
                trace.kv_keys[layer][groups][:, picked].astype(np.float64),
            )
            for layer in range(layers)
        ]
    )


def _named_right(queries: Floats, keys: Floats) -> Floats:
    """Share of vectors that the others name right, (head,)."""
    size = queries.shape[1]
    # Without token i the translation is a_i = (n a - (q_i - k_i)) / (n - 1), (head, token, dim).
    apart = queries - keys
    moves = (size * apart.mean(axis=1, keepdims=True) - apart) / (size - 1)
    within_q, within_k = _distances(queries, queries), _distances(keys, keys)
    spread_q, spread_k = _spread_without(within_q), _spread_without(within_k)
    to_keys = _mean_of_others(_distances(queries - moves, keys)) - spread_k
    to_queries = _mean_of_others(_distances(keys + moves, queries)) - spread_q
    right = [
        _nearer(_mean_of_others(within_q) - spread_q, to_keys),
        _nearer(_mean_of_others(within_k) - spread_k, to_queries),
    ]
    return np.asarray(np.concatenate(right, axis=1).mean(axis=1))


def _mean_of_others(distances: Floats) -> Floats:
    """Mean distance of each row to every point but its own number, (head, token)."""
    own = np.einsum("htt->ht", distances)
    return np.asarray((distances.sum(axis=2) - own) / (distances.shape[1] - 1))


def _spread_without(within: Floats) -> Floats:
    """Half the mean distance among the points of a cloud without each in turn, (head, token)."""
    size = within.shape[1]
    pairs = within.sum(axis=(1, 2))[:, None] - 2 * within.sum(axis=2)
    return np.asarray(pairs / (2 * (size - 1) * (size - 2)))


def _nearer(own: Floats, other: Floats) -> Floats:
    """1 where the own cloud is nearer, 0 where the other is, 0.5 where they tie up to rounding."""
    ties = np.abs(own - other) <= TIE * (np.abs(own) + np.abs(other))
    return np.where(ties, 0.5, own < other)


def _distances(a: Floats, b: Floats) -> Floats:
    """Euclidean distances between the rows of a and of b, (head, row of a, row of b)."""
    squared = (a**2).sum(-1)[:, :, None] + (b**2).sum(-1)[:, None, :]
    squared -= 2 * a @ b.swapaxes(1, 2)
    return np.asarray(np.sqrt(np.maximum(squared, 0)))


def _lengths(vectors: Array) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1), dtype=np.float64)
