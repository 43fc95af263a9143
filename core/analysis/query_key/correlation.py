"""Correlation of the distance of query and key with the head's target, as a function of c.

For queries c q and keys k / c neither the target y nor the dot product x depends on c, and the
squared distance is c^2 |q|^2 + |k|^2 / c^2 - 2 x. Four numbers a pair are enough for every c.

Here distances stay as they are, on one scale for all queries, so that c is not free to let the
clouds fly apart: with c towards infinity the distances of each single query rank its keys exactly
as attention does, and all queries lie far away. What a chosen c keeps is measured in
:mod:`core.analysis.query_key.faithfulness`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from core.analysis.query_key.distance import cosine_distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.analysis.query_key.distance import Distance
    from core.analysis.query_key.target import Rows, Target

    Floats = NDArray[np.float64]

Measure = Literal["pearson", "spearman", "weighted"]

MOST_PAIRS = 32_768  # of a head; beyond 181 tokens a random sample stands for all: r within 0.01
MOST_RANKED_PAIRS = 4_096  # the same for Spearman, which sorts at every c
NEAREST = 0.005  # share of the pairs that carries weight in a weighted correlation
LEAST_CARRYING = 3  # a correlation of two points is always 1
_ROUNDING = 1e-9  # of the largest value: what varies less does not vary
_LEAST_SPREAD = 1e-6  # of a sum of squares: what is left of it when the mean is taken
_SEED = 0


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
    carrying: NDArray[np.int64]


def choose_pairs(rows: Rows, measure: Measure) -> NDArray[np.intp]:
    """All counted pairs, or a random sample (fixed seed) where they are more than can be used.

    The result holds places among the pairs of these rows, ascending, (pair,).
    """
    most = MOST_RANKED_PAIRS if measure == "spearman" else MOST_PAIRS
    return sample_of(rows.keys.size, most)


def sample_of(count: int, most: int) -> NDArray[np.intp]:
    """All of so many, or a random sample of at most that size (fixed seed), ascending."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(_SEED).choice(count, most, replace=False))


def pair_table(queries: Floats, keys: Floats, target: Target, pairs: NDArray[np.intp]) -> PairTable:
    """What is known of these pairs of a target; `queries` and `keys` are (token, dim)."""
    rows = target.rows
    i = np.repeat(rows.queries, rows.counts)[pairs]
    j = rows.keys[pairs]
    few = pairs.size < len(queries) * len(keys) // 8  # of all products
    products = np.einsum("pd,pd->p", queries[i], keys[j]) if few else (queries @ keys.T)[i, j]
    return PairTable(
        target.values[pairs],
        products,
        np.einsum("td,td->t", queries, queries)[i],
        np.einsum("td,td->t", keys, keys)[j],
    )


def distances(table: PairTable, c: Floats, distance: Distance) -> Floats:
    """Distances of all pairs at each c, (c, pair). A vector of no length has cosine distance 1."""
    x, q, k = table.products, table.query_squares, table.key_squares
    if distance == "cosine":
        return np.broadcast_to(cosine_distances(x, q * k), (c.size, x.size))
    squares = np.stack([c**2, c**-2, np.full(c.size, -2.0)], axis=1) @ np.stack([q, k, x])
    np.maximum(squares, 0, out=squares)
    return np.sqrt(squares, out=squares) if distance == "euclidean" else squares


def correlations(table: PairTable, c: Floats, distance: Distance, measure: Measure) -> Correlations:
    """The correlation of distance and target at each c.

    Not a number where target or distances do not vary, or fewer than ``LEAST_CARRYING`` pairs
    carry weight. `c` is (c,), all positive.
    """
    if table.target.size < LEAST_CARRYING:
        return Correlations(np.full(c.size, np.nan), np.full(c.size, table.target.size))
    method = _MEASURES[measure]
    if distance == "cosine":  # the same for every c
        once = method(table.target, distances(table, np.ones(1), distance))
        return Correlations(np.repeat(once.values, c.size), np.repeat(once.carrying, c.size))
    return method(table.target, distances(table, c, distance))


def closed_form_c(table: PairTable) -> float | None:
    """The c at which squared Euclidean distance and target correlate nearest to -1.

    With u = c^2, squared distance is u Q + K / u - 2 x (Q, K the squared norms, x the dot product).
    Its covariance with the target y is P(u) / u, with P(u) = cov(Q, y) u^2 - 2 cov(x, y) u +
    cov(K, y), and its variance R(u) / u^2 with a quartic R made of the six covariances of Q, K and
    x; r^2 has its extremes where 2 P' R = P R'.

    Returns
    -------
    The c, or None when the correlation is lowest as c goes to 0 or to infinity, or is not defined.
    """
    rows = np.stack([table.query_squares, table.key_squares, table.products, table.target])
    if rows.shape[1] < LEAST_CARRYING or _steady(table.target):
        return None
    # In units of their own size, so that the roots of the quartic are well conditioned.
    scale = np.sqrt(rows[1].mean() / rows[0].mean()) if rows[0].any() and rows[1].any() else 1.0
    rows = rows * np.array([[scale], [1 / scale], [1.0], [1.0]])
    (qq, qk, qx, qy), (_, kk, kx, ky), (_, _, xx, xy), (_, _, _, yy) = np.cov(rows, bias=True)
    p = np.polynomial.Polynomial([ky, -2 * xy, qy])
    r = np.polynomial.Polynomial([kk, -4 * kx, 4 * xx + 2 * qk, -4 * qx, qq])
    roots = (2 * p.deriv() * r - p * r.deriv()).trim().roots()
    real = roots.real[(np.abs(roots.imag) < 1e-7 * np.abs(roots)) & (roots.real > 0)]

    def correlation(u: Floats) -> Floats:
        return np.asarray(p(u) / np.sqrt(np.maximum(r(u), 1e-300) * yy))

    ends = [top / np.sqrt(own * yy) if own > 0 else np.inf for top, own in ((ky, kk), (qy, qq))]
    if not real.size or correlation(real).min() > min(ends) - 1e-12:
        return None
    best = real[int(correlation(real).argmin())]
    return float(np.sqrt(best * scale))


def weighted_correlation(x: Floats, y: Floats, weights: Floats) -> float:
    """cov(x, y; w) / sqrt(cov(x, x; w) cov(y, y; w)); not a number where x or y does not vary.

    All arguments are (pair,); weights are not negative.
    """
    total = weights.sum()
    if total <= 0:
        return float("nan")
    share = weights / total
    x, y = x - share @ x, y - share @ y
    below = (share @ x**2) * (share @ y**2)
    return float(np.clip(share @ (x * y) / np.sqrt(below), -1, 1)) if below > 0 else float("nan")


def _pearson(x: Floats, y: Floats) -> Correlations:
    """Of x (pair,) with every row of y (c, pair)."""
    steady = _steady(x) | _steady(y)
    x = x - x.mean()
    means, squares = y.mean(axis=1), np.einsum("cp,cp->c", y, y)
    spread = squares - y.shape[1] * means**2
    if (spread < _LEAST_SPREAD * squares).any():  # there a difference of sums is rounding
        y = y - means[:, None]
        spread = np.einsum("cp,cp->c", y, y)
    below = np.sqrt((x @ x) * np.maximum(spread, 0))
    values = np.divide(y @ x, below, out=np.full(len(y), np.nan), where=~steady & (below > 0))
    return Correlations(np.clip(values, -1, 1), np.full(len(y), x.size))


def _spearman(x: Floats, y: Floats) -> Correlations:
    from scipy.stats import rankdata

    # Ranks of what only rounding tells apart would be chance.
    steady = _steady(x) | _steady(y)
    found = _pearson(rankdata(_rounded(x)), rankdata(_rounded(y), axis=1))
    return Correlations(np.where(steady, np.nan, found.values), found.carrying)


def _weighted(x: Floats, y: Floats) -> Correlations:
    """Weights (d - d_i)^2 for the pairs nearer than d, the 0.5th percentile of each row of y."""
    place = NEAREST * (x.size - 1)
    count = min(int(place) + 2, x.size)
    nearest = np.argpartition(y, count - 1, axis=1)[:, :count]
    values, carrying = [], []
    for row, chosen in zip(y, nearest, strict=True):
        near = row[chosen]
        low, high = np.sort(near)[-2:]
        limit = low + (place - int(place)) * (high - low)  # as numpy's percentile, linear
        weights = np.where(near < limit, (limit - near) ** 2, 0)
        carrying.append(int((weights > 0).sum()))
        enough = carrying[-1] >= LEAST_CARRYING
        values.append(weighted_correlation(x[chosen], near, weights) if enough else np.nan)
    return Correlations(np.array(values), np.array(carrying))


def _rounded(values: Floats) -> Floats:
    """What differs by no more than rounding, along the last axis, made equal."""
    step = _ROUNDING * np.abs(values).max(axis=-1, keepdims=True)
    return np.rint(np.divide(values, step, out=np.zeros_like(values), where=step > 0))


def _steady(values: Floats) -> NDArray[np.bool_]:
    """Whether what lies along the last axis varies by no more than rounding."""
    low, high = values.min(axis=-1), values.max(axis=-1)
    return np.asarray(high - low <= _ROUNDING * np.maximum(np.abs(low), np.abs(high)))


_MEASURES: dict[Measure, Callable[[Floats, Floats], Correlations]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "weighted": _weighted,
}
