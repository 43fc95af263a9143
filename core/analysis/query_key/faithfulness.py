"""How much of a head's attention a picture of its queries and keys preserves.

A picture is faithful where near means attended: its distances, less the mean of their row, are
compared with the row-centred scores. This is the correlation within subjects, each query a subject
(Bland and Altman 1995, BMJ 310:446).

Pairs of one query depend on each other, so the sampling error comes from a jackknife that leaves
out one query at a time, on Fisher's z (Efron and Tibshirani 1993, chapter 11). All queries share
their keys: the interval is a little narrow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.normalization import ROUNDING
from core.analysis.query_key.target import Rows, Target, less_mean

MIN_CHANGE = 0.02  # of a correlation; less is called the same
_MIN_QUERIES = 3  # for a jackknife
_TAIL = 0.975  # of Student's distribution, for an interval of 95 %


class Faithfulness(NamedTuple):
    """How faithful a picture is; NaN where undefined."""

    correlation: float  # of distance with the target
    top1: float  # the share of queries whose nearest key is their strongest
    low: float  # the ends of the correlation's 95 % interval
    high: float
    pairs: int  # how many count


def compare_matrix(target: Target, distances: Floats) -> Faithfulness:
    """:func:`compare` the distances of every query and key of one text, (token, token)."""
    return compare(target, target.rows.select(distances))


def compare(target: Target, distances: Floats) -> Faithfulness:
    """Compare the distances of every pair (pair,) with the target."""
    rows = target.rows
    if not distances.size:
        return Faithfulness(*(float("nan"),) * 4, pairs=0)
    x, y = less_mean(distances, rows, target.kind), target.values
    sums = np.stack([rows.sums(product) for product in (x * x, x * y, y * y)])
    xx, xy, yy = sums.sum(axis=1)
    rounding = ROUNDING * float(np.abs(distances).max())
    correlation = low = high = float("nan")
    if xx > distances.size * rounding**2 and yy > 0:
        correlation = float(np.clip(xy / np.sqrt(xx * yy), -1, 1))
        low, high = _interval(sums, correlation)
    nearest = _nearest(target, distances)
    return Faithfulness(correlation, nearest, low, high, distances.size)


def uniform_baseline(rows: Rows) -> float:
    """The share of nearest keys that random points reach on average: one of `m` keys is 1 / m."""
    return float((1 / rows.counts).mean()) if rows.counts.size else float("nan")


def _interval(queries: Floats, correlation: float) -> tuple[float, float]:
    """A 95 % interval from a jackknife over queries, whose sums of x x, x y, y y are (3, query)."""
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
    """The share of queries whose strongest key is their nearest; of equals the earlier counts."""
    rows, own = target.rows, distances[target.strongest]
    before = np.arange(distances.size) < rows.spread(target.strongest)
    nearer = (distances < rows.spread(own)) | ((distances == rows.spread(own)) & before)
    return float((np.add.reduceat(nearer, rows.starts, dtype=np.intp) == 0).mean())
