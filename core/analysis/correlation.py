"""Correlation of the distance of query and key with their dot product, as a function of c.

For queries c q and keys k / c the dot product x does not depend on c, and the squared distance is
c^2 |q|^2 + |k|^2 / c^2 - 2 x. Three numbers a pair are therefore enough for every c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Distance = Literal["euclidean", "cosine", "squared euclidean"]
Measure = Literal["pearson", "spearman", "weighted"]

MOST_PAIRS = 32_768  # of a head; beyond 181 tokens a random sample stands for all: r within 0.01
MOST_RANKED_PAIRS = 4_096  # the same for Spearman, which sorts at every c
NEAREST = 0.005  # share of the pairs that carries weight in a weighted correlation
LEAST_CARRYING = 3  # a correlation of two points is always 1
_COSINE_DIGITS = 12  # after the point; beyond them a cosine of float64 vectors is rounding
_ROUNDING = 1e-9  # of the largest value: what varies less does not vary
_SEED = 0


@dataclass(frozen=True, eq=False)
class PairTable:
    """Permitted pairs of one head: dot products, squared norms of query and key, (pair,) each."""

    products: Floats
    query_squares: Floats
    key_squares: Floats


class Correlations(NamedTuple):
    """A correlation for each c, and how many pairs carry weight in it, both (c,)."""

    values: Floats
    carrying: NDArray[np.int64]


def choose_pairs(allowed: NDArray[np.bool_], measure: Measure) -> NDArray[np.intp]:
    """All permitted pairs, or a random sample (fixed seed) where they are more than can be used.

    `allowed` is (token, token); the result holds indices into it when flattened, (pair,).
    """
    pairs = np.flatnonzero(allowed)
    most = MOST_RANKED_PAIRS if measure == "spearman" else MOST_PAIRS
    if pairs.size <= most:
        return pairs
    return np.random.default_rng(_SEED).choice(pairs, most, replace=False)


def pair_table(queries: Floats, keys: Floats, pairs: NDArray[np.intp]) -> PairTable:
    """What is known of each of these pairs; `queries` and `keys` are (token, dim)."""
    i, j = np.divmod(pairs, len(keys))
    return PairTable(
        (queries @ keys.T).ravel()[pairs],
        np.einsum("td,td->t", queries, queries)[i],
        np.einsum("td,td->t", keys, keys)[j],
    )


def gathered_table(
    queries: Floats, keys: Floats, i: NDArray[np.intp], j: NDArray[np.intp]
) -> PairTable:
    """The same for pairs of query `i` and key `j`, (pair,) each, where all would be too many."""
    return PairTable(
        np.einsum("pd,pd->p", queries[i], keys[j]),
        np.einsum("td,td->t", queries, queries)[i],
        np.einsum("td,td->t", keys, keys)[j],
    )


def distances(table: PairTable, c: Floats, distance: Distance) -> Floats:
    """Distances of all pairs at each c, (c, pair). A vector of no length has cosine distance 1."""
    x, q, k = table.products, table.query_squares, table.key_squares
    if distance == "cosine":
        lengths = np.sqrt(q * k)
        cosine = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
        apart = np.round(1 - cosine, _COSINE_DIGITS)
        return np.broadcast_to(apart, (c.size, x.size))
    squares = np.outer(c**2, q)
    squares += np.outer(c**-2, k)
    squares -= 2 * x
    np.maximum(squares, 0, out=squares)
    return np.sqrt(squares, out=squares) if distance == "euclidean" else squares


def correlations(table: PairTable, c: Floats, distance: Distance, measure: Measure) -> Correlations:
    """The correlation of distance and dot product at each c.

    Not a number where products or distances do not vary, or fewer than ``LEAST_CARRYING`` pairs
    carry weight. `c` is (c,), all positive.
    """
    if table.products.size < LEAST_CARRYING:
        return Correlations(np.full(c.size, np.nan), np.full(c.size, table.products.size))
    method = _MEASURES[measure]
    if distance == "cosine":  # the same for every c
        once = method(table.products, distances(table, np.ones(1), distance))
        return Correlations(np.repeat(once.values, c.size), np.repeat(once.carrying, c.size))
    return method(table.products, distances(table, c, distance))


def closed_form_c(table: PairTable) -> float | None:
    """The c at which squared Euclidean distance and dot product correlate nearest to -1.

    With u = c^2, squared distance is u Q + K / u - 2 x (Q, K the squared norms). Its covariance
    with x is P(u) / u and its variance R(u) / u^2, with polynomials P and R made of the six
    covariances of Q, K and x; r^2 has its extremes where 2 P' R = P R', a quartic.

    Returns
    -------
    The c, or None when the correlation is lowest as c goes to 0 or to infinity, or is not defined.
    """
    rows = np.stack([table.query_squares, table.key_squares, table.products])
    if rows.shape[1] < LEAST_CARRYING:
        return None
    # In units of their own size, so that the roots of the quartic are well conditioned.
    scale = np.sqrt(rows[1].mean() / rows[0].mean()) if rows[0].any() and rows[1].any() else 1.0
    rows = rows * np.array([[scale], [1 / scale], [1.0]])
    (qq, qk, qx), (_, kk, kx), (_, _, xx) = np.cov(rows, bias=True)
    if xx <= 0:
        return None
    p = np.polynomial.Polynomial([kx, -2 * xx, qx])
    r = np.polynomial.Polynomial([kk, -4 * kx, 4 * xx + 2 * qk, -4 * qx, qq])
    roots = (2 * p.deriv() * r - p * r.deriv()).trim().roots()
    real = roots.real[(np.abs(roots.imag) < 1e-7 * np.abs(roots)) & (roots.real > 0)]

    def correlation(u: Floats) -> Floats:
        return np.asarray(p(u) / np.sqrt(np.maximum(r(u), 1e-300) * xx))

    ends = [top / np.sqrt(own * xx) if own > 0 else np.inf for top, own in ((kx, kk), (qx, qq))]
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
    y = y - y.mean(axis=1, keepdims=True)
    below = np.sqrt((x @ x) * np.einsum("cp,cp->c", y, y))
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
