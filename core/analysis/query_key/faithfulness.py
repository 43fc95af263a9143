"""How much of a head's attention a picture of its queries and keys preserves.

A picture is faithful where near means attended: its distances, less the mean of their row, are
compared with the row-centred scores. This is the correlation within subjects, each query a subject
(Bland and Altman 1995, BMJ 310:446).

Pairs of one query, or of one text, depend on each other, so the sampling error comes from a
jackknife that leaves out one query or text at a time, on Fisher's z (Efron and Tibshirani 1993,
chapter 11). All queries of a text share its keys: its interval is a little narrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.normalization import ROUNDING
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.target import TOP_KEYS, Rows, Target, less_mean

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Embedding

Reading = Literal["distance", "inner product"]

MIN_CHANGE = 0.02  # of a correlation; less is called the same
_MIN_GROUPS = 3  # queries or texts, for a jackknife
_TAIL = 0.975  # of Student's distribution, for an interval of 95 %


class Faithfulness(NamedTuple):
    """How faithful a picture is; NaN where undefined."""

    correlation: float  # of distance (or inner product) with the target, all texts pooled
    top1: float  # the share of each query's strongest keys that are also its nearest
    top3: float  # the same for its three strongest
    low: float  # the ends of the correlation's 95 % interval
    high: float
    per_text: float  # mean of the correlations of each text alone
    pairs: int  # how many count


class Baseline(NamedTuple):
    """The shares that points in random order reach on average."""

    top1: float
    top3: float


def faithfulness(target: Target, picture: Embedding, reading: Reading = "distance") -> Faithfulness:
    """Compare the picture of one text's head with its target: by distance, or by inner product."""
    if reading == "inner product":
        return compare_matrix(target, picture.queries @ picture.keys.T, sign=1)
    return compare_matrix(target, distances_between(picture.queries, picture.keys))


def compare_matrix(target: Target, measured: Floats, sign: Literal[-1, 1] = -1) -> Faithfulness:
    """:func:`compare` what was measured of every query and key of one text, (token, token)."""
    return compare(target, target.rows.select(measured), sign)


def compare(target: Target, measured: Floats, sign: Literal[-1, 1] = -1) -> Faithfulness:
    """Compare what was measured of every pair (pair,) with the target.

    `sign` is -1 for distances, 1 for inner products, where larger is nearer.
    """
    rows = target.rows
    if not measured.size:
        nan = float("nan")
        return Faithfulness(nan, nan, nan, nan, nan, nan, pairs=0)
    x, y = less_mean(measured, rows, target.kind), target.values
    sums = np.stack([rows.sums(product) for product in (x * x, x * y, y * y)])
    rounding = ROUNDING * float(np.abs(measured).max())
    correlation, low, high, per_text = _correlate(sums, rows, rounding)
    top1, top3 = _shares(target, sign * measured)
    return Faithfulness(correlation, top1, top3, low, high, per_text, measured.size)


def uniform_baseline(rows: Rows) -> Baseline:
    """What random points reach on average: `k` of `m` keys meet `k` others with share k / m."""
    if not rows.counts.size:
        return Baseline(float("nan"), float("nan"))
    top1, top3 = (float((np.minimum(k, rows.counts) / rows.counts).mean()) for k in (1, TOP_KEYS))
    return Baseline(top1, top3)


def _correlate(sums: Floats, rows: Rows, rounding: float) -> tuple[float, float, float, float]:
    """The pooled correlation, its interval, and the mean over texts.

    `sums` are of x x, x y and y y over each row, (3, row); `rounding` is that of x.
    """
    firsts = np.flatnonzero(np.diff(rows.texts, prepend=-1))
    texts = np.add.reduceat(sums, firsts, axis=1)  # (3, text)
    xx, xy, yy = texts.sum(axis=1)
    if not (xx > rows.keys.size * rounding**2 and yy > 0):
        return (float("nan"),) * 4
    correlation = float(np.clip(xy / np.sqrt(xx * yy), -1, 1))
    low, high = _interval(sums if texts.shape[1] == 1 else texts, correlation)
    per_text = _ratios(texts, rounding)
    per_text = per_text[np.isfinite(per_text)]
    return correlation, low, high, float(per_text.mean()) if per_text.size else float("nan")


def _interval(groups: Floats, correlation: float) -> tuple[float, float]:
    """A 95 % interval from a jackknife over groups of pairs, whose sums are (3, group)."""
    from scipy.special import stdtrit

    groups = groups[:, groups[2] > 0]
    count = groups.shape[1]
    if count < _MIN_GROUPS or abs(correlation) > 1 - ROUNDING:
        return float("nan"), float("nan")
    without = _ratios(groups.sum(axis=1, keepdims=True) - groups, 0.0)
    z = np.arctanh(np.clip(without, -1 + ROUNDING, 1 - ROUNDING))
    error = np.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(count - 1, _TAIL)) * error
    middle = np.arctanh(correlation)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _ratios(sums: Floats, rounding: float) -> Floats:
    """The correlation of each group whose sums of x x, x y and y y are (3, group)."""
    xx, xy, yy = sums
    defined = (xx > rounding**2) & (yy > 0)
    root = np.sqrt(np.where(defined, xx * yy, 1.0))
    return np.where(defined, np.clip(xy / root, -1, 1), np.nan)


def _shares(target: Target, nearness: Floats) -> tuple[float, float]:
    """For k = 1 and 3, the share of each query's k strongest keys that are its k nearest.

    The mean over queries; one with fewer than k keys counts with those it has.
    """
    rows = target.rows
    counts = np.minimum(TOP_KEYS, rows.counts)
    ranks = np.stack([_ranks(nearness, pairs, rows) for pairs in target.strongest])
    counted = np.arange(TOP_KEYS)[:, None] < counts
    top3 = ((ranks < counts) & counted).sum(axis=0) / counts
    return float((ranks[0] == 0).mean()), float(top3.mean())


def _ranks(nearness: Floats, pairs: Indices, rows: Rows) -> Indices:
    """How many keys of its row are nearer than the key of one pair a row; of equals the earlier."""
    own = rows.spread(nearness[pairs])
    nearer = nearness > own
    equal = nearness == own
    if np.count_nonzero(equal) > pairs.size:  # ties
        nearer |= equal & (np.arange(nearness.size) < rows.spread(pairs))
    return np.asarray(np.add.reduceat(nearer, rows.starts, dtype=np.intp))
