"""Correlation of the distance of query and key with the head's target, as a function of c.

For queries c q and keys k / c neither the target nor the dot product x depends on c, and the
squared distance is c^2 |q|^2 + |k|^2 / c^2 - 2 x: four numbers a pair are enough for every c. Here
distances keep the means of their rows, or c would grow without end, until each query's distances
rank its keys as attention does while all queries lie far away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices, sample_indices
from core.analysis.normalization import ROUNDING, is_constant
from core.analysis.query_key.distance import cosine_distances
from core.analysis.query_key.target import Rows, Target

Distance = Literal["euclidean", "cosine", "squared euclidean"]
Measure = Literal["pearson", "spearman", "weighted"]

MAX_PAIRS = 32_768  # of a head; beyond 181 tokens a random sample stands for all: r within 0.01
MAX_RANKED_PAIRS = 4_096  # the same for Spearman, which sorts at every c
NEAREST = 0.005  # share of the pairs that carries weight in a weighted correlation
MIN_WEIGHTED = 3  # pairs: a correlation of two points is always 1
_MIN_SPREAD = 1e-6  # of a sum of squares: what remains of it once the mean is taken


@dataclass(frozen=True, eq=False)
class PairTable:
    """Counted pairs of one head: target, dot products, squared norms of both, (pair,) each."""

    target: Floats
    products: Floats
    query_squares: Floats
    key_squares: Floats


class Correlations(NamedTuple):
    """A correlation for each c, and how many pairs carry weight in it, both (c,)."""

    values: Floats
    weighted_pairs: NDArray[np.int64]


def choose_pairs(rows: Rows, measure: Measure) -> Indices:
    """Indices of the pairs used: all counted pairs, or a sample of as many as the measure takes."""
    return sample_indices(rows.keys.size, MAX_RANKED_PAIRS if measure == "spearman" else MAX_PAIRS)


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


def distances(table: PairTable, c: Floats, distance: Distance) -> Floats:
    """Distances of all pairs at each c, (c, pair). A zero vector has cosine distance 1."""
    x, q, k = table.products, table.query_squares, table.key_squares
    if distance == "cosine":
        return np.broadcast_to(cosine_distances(x, q * k), (c.size, x.size))
    squares = np.stack([c**2, c**-2, np.full(c.size, -2.0)], axis=1) @ np.stack([q, k, x])
    np.maximum(squares, 0, out=squares)
    return np.sqrt(squares, out=squares) if distance == "euclidean" else squares


def correlations(table: PairTable, c: Floats, distance: Distance, measure: Measure) -> Correlations:
    """The correlation of distance and target at each c; `c` is (c,), all positive.

    NaN where target or distances do not vary, or fewer than ``MIN_WEIGHTED`` pairs carry weight.
    """
    if table.target.size < MIN_WEIGHTED:
        return Correlations(np.full(c.size, np.nan), np.full(c.size, table.target.size))
    correlate = _MEASURES[measure]
    if distance == "cosine":  # the same for every c
        values, weighted_pairs = correlate(table.target, distances(table, np.ones(1), distance))
        return Correlations(np.repeat(values, c.size), np.repeat(weighted_pairs, c.size))
    return correlate(table.target, distances(table, c, distance))


def closed_form_c(table: PairTable) -> float | None:
    """The c at which squared Euclidean distance and target correlate nearest to -1.

    With u = c^2, squared distance is u Q + K / u - 2 x (Q, K the squared norms, x the dot product).
    Its covariance with the target y is P(u) / u, with P(u) = cov(Q, y) u^2 - 2 cov(x, y) u +
    cov(K, y), and its variance R(u) / u^2 with a quartic R made of the six covariances of Q, K and
    x; r^2 has its extremes where 2 P' R = P R'.

    None when the correlation is undefined, or lowest as c goes to 0 or to infinity.
    """
    rows = np.stack([table.query_squares, table.key_squares, table.products, table.target])
    if rows.shape[1] < MIN_WEIGHTED or is_constant(table.target):
        return None
    # In units of their own size, so that the roots of the quartic are well conditioned.
    scale = np.sqrt(rows[1].mean() / rows[0].mean()) if rows[0].any() and rows[1].any() else 1.0
    rows = rows * np.array([[scale], [1 / scale], [1.0], [1.0]])
    (qq, qk, qx, qy), (_, kk, kx, ky), (_, _, xx, xy), (_, _, _, yy) = np.cov(rows, bias=True)
    p = np.polynomial.Polynomial([ky, -2 * xy, qy])
    r = np.polynomial.Polynomial([kk, -4 * kx, 4 * xx + 2 * qk, -4 * qx, qq])
    roots = (2 * p.deriv() * r - p * r.deriv()).trim().roots()
    real = roots.real[(np.abs(roots.imag) < 1e-7 * np.abs(roots)) & (roots.real > 0)]
    at_roots = np.asarray(p(real) / np.sqrt(np.maximum(r(real), 1e-300) * yy))
    limits = [cov / np.sqrt(var * yy) if var > 0 else np.inf for cov, var in ((ky, kk), (qy, qq))]
    if not real.size or at_roots.min() > min(limits) - 1e-12:
        return None
    return float(np.sqrt(real[at_roots.argmin()] * scale))


def weighted_correlation(x: Floats, y: Floats, weights: Floats) -> float:
    """cov(x, y; w) / sqrt(cov(x, x; w) cov(y, y; w)), NaN where x or y does not vary.

    All arguments are (pair,); weights are not negative.
    """
    total = weights.sum()
    if total <= 0:
        return float("nan")
    share = weights / total
    x, y = x - share @ x, y - share @ y
    variances = (share @ x**2) * (share @ y**2)
    if variances <= 0:
        return float("nan")
    return float(np.clip(share @ (x * y) / np.sqrt(variances), -1, 1))


def _pearson(x: Floats, y: Floats) -> Correlations:
    """Of x (pair,) with every row of y (c, pair)."""
    constant = is_constant(x) | is_constant(y)
    x = x - x.mean()
    means, squares = y.mean(axis=1), np.einsum("cp,cp->c", y, y)
    spread = squares - y.shape[1] * means**2
    if (spread < _MIN_SPREAD * squares).any():  # there a difference of sums is rounding
        y = y - means[:, None]
        spread = np.einsum("cp,cp->c", y, y)
    norms = np.sqrt((x @ x) * np.maximum(spread, 0))
    values = np.divide(y @ x, norms, out=np.full(len(y), np.nan), where=~constant & (norms > 0))
    return Correlations(np.clip(values, -1, 1), np.full(len(y), x.size))


def _spearman(x: Floats, y: Floats) -> Correlations:
    """The same of ranks; values that differ by rounding alone share a rank."""
    from scipy.stats import rankdata

    constant = is_constant(x) | is_constant(y)
    values, pairs = _pearson(rankdata(_rounded(x)), rankdata(_rounded(y), axis=1))
    return Correlations(np.where(constant, np.nan, values), pairs)


def _weighted(x: Floats, y: Floats) -> Correlations:
    """Weights (d - d_i)^2 for the pairs nearer than d, the 0.5th percentile of each row of y."""
    place = NEAREST * (x.size - 1)
    count = min(int(place) + 2, x.size)
    nearest = np.argpartition(y, count - 1, axis=1)[:, :count]
    values, weighted_pairs = [], []
    for row, pairs in zip(y, nearest, strict=True):
        near = row[pairs]
        low, high = np.sort(near)[-2:]
        limit = low + (place - int(place)) * (high - low)  # as numpy's percentile, linear
        weights = np.where(near < limit, (limit - near) ** 2, 0)
        weighted_pairs.append(int((weights > 0).sum()))
        enough = weighted_pairs[-1] >= MIN_WEIGHTED
        values.append(weighted_correlation(x[pairs], near, weights) if enough else np.nan)
    return Correlations(np.array(values), np.array(weighted_pairs))


def _rounded(values: Floats) -> Floats:
    """`values` in steps of their rounding, along the last axis."""
    step = ROUNDING * np.abs(values).max(axis=-1, keepdims=True)
    return np.rint(np.divide(values, step, out=np.zeros_like(values), where=step > 0))


_MEASURES: dict[Measure, Callable[[Floats, Floats], Correlations]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "weighted": _weighted,
}
