"""How much of a head's attention a picture of its queries and keys preserves.

A picture is faithful if near means attended: its distances, less the mean of their row, are
compared with the row-centred scores of the permitted pairs. All stages, distances and pictures
share that target: softmax ignores a constant added to a row of scores. This is the correlation
within subjects, each query a subject (Bland and Altman 1995, BMJ 310:446).

Pairs of the same query are not independent, so the sampling error comes from a jackknife that
leaves out one query at a time, on Fisher's z (Efron and Tibshirani 1993, chapter 11). All queries
share their keys: the interval is slightly too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.normalization import ROUNDING
from core.analysis.pairs import exact_scores, permitted

if TYPE_CHECKING:
    from core.model.trace import Trace

MIN_CHANGE = 0.02  # of a correlation; smaller differences count as the same
_MIN_QUERIES = 3  # for a jackknife
_TAIL = 0.975  # of Student's t distribution, for a 95 % interval
MIN_KEYS = 2  # a query with one permitted key must attend to it, which says nothing


@dataclass(frozen=True, eq=False)
class QueryRows:
    """The counted pairs, query by query: permitted, of queries with ``MIN_KEYS`` or more keys."""

    queries: Indices  # (row,)
    keys: Indices  # (pair,)
    starts: Indices  # (row,), index of its first pair
    counts: Indices  # (row,), number of its pairs

    def select(self, matrix: Floats) -> Floats:
        """The pairs' values from one text's (token, token) matrix, (pair,)."""
        if self.keys.size == matrix.size:
            return matrix.ravel()
        return np.asarray(matrix[self.spread(self.queries), self.keys])

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value per row, repeated for each of its pairs, (pair,)."""
        return np.repeat(values, self.counts)

    def sums(self, values: Floats) -> Floats:
        """The sum over the pairs of each row, (row,)."""
        return np.asarray(np.add.reduceat(values, self.starts, dtype=np.float64))

    def centred(self, values: Floats) -> Floats:
        """`values` (pair,) minus the mean of their row."""
        return np.asarray(values - self.spread(self.sums(values) / self.counts))


@dataclass(frozen=True, eq=False)
class Target:
    """What pictures of one head are compared with."""

    rows: QueryRows  # the counted pairs
    values: Floats  # (pair,), scores minus the mean of their row
    strongest: Indices  # (row,), the pair with the highest score in each row; of equals, the first


def head_target(trace: Trace, layer: int, head: int) -> Target:
    """The target of one head of a text."""
    return matrix_target(exact_scores(trace, layer, head), permitted(trace, layer, head))


def matrix_target(scores: Floats, allowed: Bools) -> Target:
    """The target of one text's scores before softmax; both arguments are (token, token)."""
    rows = query_rows(allowed)
    return target_of(rows.select(scores), rows)


def query_rows(allowed: Bools) -> QueryRows:
    """The counted pairs among one text's permitted pairs (token, token)."""
    counted = allowed & (allowed.sum(axis=1, keepdims=True) >= MIN_KEYS)
    counts = counted.sum(axis=1)
    queries = np.flatnonzero(counts)
    counts = counts[queries]
    return QueryRows(
        queries=queries,
        keys=np.nonzero(counted)[1],
        starts=np.cumsum(counts) - counts,
        counts=counts,
    )


def target_of(scores: Floats, rows: QueryRows) -> Target:
    """The target of the scores (pair,) of these rows; variation by rounding alone becomes 0."""
    values = rows.centred(scores)
    if values.size:
        largest = np.maximum.reduceat(np.abs(values), rows.starts)
        values[rows.spread(largest <= ROUNDING * np.abs(scores).max())] = 0.0
    return Target(rows, values, _strongest(scores, rows))


def _strongest(scores: Floats, rows: QueryRows) -> Indices:
    """The pair with the highest score in each row; of equals, the first."""
    if not scores.size:
        return np.zeros(0, dtype=np.intp)
    highest = np.flatnonzero(scores == rows.spread(np.maximum.reduceat(scores, rows.starts)))
    return highest[np.searchsorted(highest, rows.starts)]


class Faithfulness(NamedTuple):
    """How faithful a picture is; NaN where undefined."""

    correlation: float  # between distances and target
    top1: float  # the share of queries whose nearest key is their strongest
    low: float  # the ends of its 95 % interval
    high: float
    pairs: int  # how many count


def compare_matrix(target: Target, distances: Floats) -> Faithfulness:
    """:func:`compare` for the distances of every query and key of one text, (token, token)."""
    return compare(target, target.rows.select(distances))


def compare(target: Target, distances: Floats) -> Faithfulness:
    """Compare the distances of all pairs (pair,) with the target."""
    rows = target.rows
    if not distances.size:
        return Faithfulness(*(float("nan"),) * 4, pairs=0)
    x, y = rows.centred(distances), target.values
    sums = np.stack([rows.sums(product) for product in (x * x, x * y, y * y)])
    xx, xy, yy = sums.sum(axis=1)
    rounding = ROUNDING * float(np.abs(distances).max())
    correlation = low = high = float("nan")
    if xx > distances.size * rounding**2 and yy > 0:
        correlation = float(np.clip(xy / np.sqrt(xx * yy), -1, 1))
        low, high = _interval(sums, correlation)
    nearest = _nearest(target, distances)
    return Faithfulness(correlation, nearest, low, high, distances.size)


def uniform_baseline(rows: QueryRows) -> float:
    """The expected top-1 share for random points: a query with `m` keys contributes 1 / m."""
    return float((1 / rows.counts).mean()) if rows.counts.size else float("nan")


def _interval(queries: Floats, correlation: float) -> tuple[float, float]:
    """95 % interval by a jackknife over queries, whose sums of x x, x y, y y are (3, query)."""
    from scipy.special import stdtrit

    queries = queries[:, queries[2] > 0]
    count = queries.shape[1]
    if count < _MIN_QUERIES or abs(correlation) > 1 - ROUNDING:
        return float("nan"), float("nan")
    xx, xy, yy = queries.sum(axis=1, keepdims=True) - queries
    root = np.sqrt(xx * yy)
    without = np.divide(xy, root, out=np.full(count, np.nan), where=root > 0)
    z = np.arctanh(np.clip(without, -1 + ROUNDING, 1 - ROUNDING))
    error = np.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(count - 1, _TAIL)) * error
    middle = np.arctanh(correlation)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _nearest(target: Target, distances: Floats) -> float:
    """The share of queries whose strongest key is their nearest; of equals, the first counts."""
    rows, to_best = target.rows, distances[target.strongest]
    before = np.arange(distances.size) < rows.spread(target.strongest)
    nearer = (distances < rows.spread(to_best)) | ((distances == rows.spread(to_best)) & before)
    return float((np.add.reduceat(nearer, rows.starts, dtype=np.intp) == 0).mean())
