"""Correlation of query-key distance with the head's target, as a function of c.

For queries c q and keys k / c neither the target nor the dot product x depends on c, and the
squared distance is c^2 |q|^2 + |k|^2 / c^2 - 2 x: four numbers per pair are enough for every c.
Here distances keep their row means; without them c would grow without end, until each query's
distances rank its keys as attention does while all queries lie far away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices
from core.analysis.normalization import is_constant
from core.analysis.query_key.faithfulness import Target

Measure = Literal["pearson", "weighted"]

MAX_PAIRS = 32_768  # per head; above 181 tokens a random sample is used: r within 0.01
NEAREST = 0.005  # share of the pairs that have weight in a weighted correlation
_AT_ONCE = 32_768  # distances: more do not fit in a processor's cache, and take twice as long
MIN_WEIGHTED = 3  # pairs: a correlation of two points is always 1


@dataclass(frozen=True, eq=False)
class PairTable:
    """The counted pairs of one head: target, dot products, squared norms of both, (pair,) each."""

    target: Floats
    products: Floats
    query_squares: Floats
    key_squares: Floats


class Correlations(NamedTuple):
    """A correlation for each c, and how many pairs have weight in it, both (c,)."""

    values: Floats
    weighted_pairs: NDArray[np.int64]


def pair_table(queries: Floats, keys: Floats, target: Target, pairs: Indices) -> PairTable:
    """The table of these pairs of a target; `queries` and `keys` are (token, dim)."""
    i, j = target.rows.spread(target.rows.queries)[pairs], target.rows.keys[pairs]
    few = pairs.size < len(queries) * len(keys) // 8  # of all products
    products = np.einsum("pd,pd->p", queries[i], keys[j]) if few else (queries @ keys.T)[i, j]
    return PairTable(
        target.values[pairs],
        products,
        np.einsum("td,td->t", queries, queries)[i],
        np.einsum("td,td->t", keys, keys)[j],
    )


def correlations(table: PairTable, c: Floats, distance: Distance, measure: Measure) -> Correlations:
    """The correlation of distance and target at each c; `c` is (c,), all positive.

    NaN if target or distances do not vary, or fewer than ``MIN_WEIGHTED`` pairs have weight.
    """
    x = table.target
    if x.size < MIN_WEIGHTED:
        return Correlations(np.full(c.size, np.nan), np.full(c.size, x.size))
    tried = np.ones(1) if distance == "cosine" else c  # cosine distance is the same for every c
    step = max(1, _AT_ONCE // x.size)
    parts = [
        _of_few(table, tried[start : start + step], distance, measure)
        for start in range(0, tried.size, step)
    ]
    repeats = c.size // tried.size
    return Correlations(*(np.repeat(np.hstack(each), repeats) for each in zip(*parts, strict=True)))


def _of_few(table: PairTable, c: Floats, distance: Distance, measure: Measure) -> Correlations:
    """The same for a few c at once."""
    squares = np.outer(c**2, table.query_squares), np.outer(c**-2, table.key_squares)
    products = np.broadcast_to(table.products, squares[0].shape).copy()
    y = pair_distances(products, *squares, distance)
    if measure == "weighted":
        return _weighted(table.target, y)
    x = table.target
    return Correlations(_correlate(x, y, np.ones(x.size)), np.full(c.size, x.size))


def _correlate(x: Floats, y: Floats, weights: Floats) -> Floats:
    """cov(x, y; w) / sqrt(cov(x, x; w) cov(y, y; w)) along the last axis; NaN where undefined.

    `y` is (c, pair), `x` and `weights` are both (pair,) or (c, pair); weights are not negative.
    """
    along = "...p,...p->..."
    shares = weights / weights.sum(axis=-1, keepdims=True)
    constant = is_constant(x) | is_constant(y)
    x = x - np.einsum(along, shares, x)[..., None]
    y = y - np.einsum(along, shares, y)[..., None]
    weighted = shares * x
    variances = np.einsum(along, weighted, x) * np.einsum("...p,...p,...p->...", shares, y, y)
    defined = ~constant & (variances > 0)
    root = np.sqrt(np.where(defined, variances, 1.0))
    return np.where(defined, np.clip(np.einsum(along, weighted, y) / root, -1, 1), np.nan)


def _weighted(x: Floats, y: Floats) -> Correlations:
    """Weights (d - d_i)^2 for pairs closer than d, the 0.5th percentile of each row of y."""
    place = NEAREST * (x.size - 1)
    count = min(int(place) + 2, x.size)
    pairs = np.argpartition(y, count - 1, axis=1)[:, :count]
    near = np.take_along_axis(y, pairs, axis=1)
    low, high = np.sort(near, axis=1)[:, -2:].T
    limits = (low + (place - int(place)) * (high - low))[:, None]  # like numpy's percentile, linear
    weights = np.where(near < limits, (limits - near) ** 2, 0)
    counts = (weights > 0).sum(axis=1)
    enough = counts >= MIN_WEIGHTED
    values = np.full(len(y), np.nan)
    values[enough] = _correlate(x[pairs[enough]], near[enough], weights[enough])
    return Correlations(values, counts)


Distance = Literal["euclidean", "squared euclidean", "cosine"]

COSINE_DIGITS = 12  # decimals; beyond them a cosine of float64 vectors is rounding
_MAX_PICTURE_DIMENSIONS = 3  # up to here differences are taken axis by axis: exact and cheap


def distances_between(queries: Floats, keys: Floats, distance: Distance = "euclidean") -> Floats:
    """From each query (row) to each key (column), (..., token, token).

    `queries` and `keys` are (..., token, dim). A zero vector has cosine distance 1.
    """
    if distance == "euclidean" and queries.shape[-1] <= _MAX_PICTURE_DIMENSIONS:
        squares = np.zeros((*queries.shape[:-1], keys.shape[-2]))
        for axis in range(queries.shape[-1]):
            squares += (queries[..., :, None, axis] - keys[..., None, :, axis]) ** 2
        return np.sqrt(squares)
    query_squares = np.einsum("...td,...td->...t", queries, queries)[..., :, None]
    key_squares = np.einsum("...td,...td->...t", keys, keys)[..., None, :]
    return pair_distances(queries @ keys.swapaxes(-1, -2), query_squares, key_squares, distance)


def pair_distances(
    products: Floats, query_squares: Floats, key_squares: Floats, distance: Distance
) -> Floats:
    """From dot products, which are overwritten, and squared norms that broadcast to their shape."""
    if distance == "cosine":
        lengths = np.sqrt(query_squares * key_squares)
        cosine = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return np.asarray(np.round(1 - cosine, COSINE_DIGITS))
    squares = np.multiply(products, -2, out=products)
    squares += query_squares
    squares += key_squares
    np.maximum(squares, 0, out=squares)
    return squares if distance == "squared euclidean" else np.sqrt(squares, out=squares)
