"""How much of a head's attention a picture of its queries and keys keeps.

A picture is faithful where near means attended. For one text or for a corpus, in full space or in
the plane, this is the one place that measures it, and the target is always the row-centred scores
(see :mod:`core.analysis.query_key.target`).

Distances lose the mean of their row as the scores do: how far a query lies from all keys tells as
little of what it attends to as what is added to its row of scores. This is the correlation within
subjects of repeated measurements, a query being the subject (Bland and Altman 1995, BMJ 310:446).

Pairs of one query, or of one text, depend on each other, so that their number says little of the
sampling error. It comes from a jackknife that leaves out one query at a time, or of a corpus one
text at a time, on Fisher's z (Efron and Tibshirani 1993, chapter 11). Keys are shared by all
queries of a text: for one text the interval is rather too narrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.target import FIRST_KEYS, less_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.projections.joint_embedding import Embedding
    from core.analysis.query_key.target import Rows, Target

    Floats = NDArray[np.float64]

Reading = Literal["distance", "inner product"]

_SHARES = (1, FIRST_KEYS)
_ROUNDING = 1e-9  # of the largest distance: what varies less does not vary
_LEAST_LEFT_OUT = 3  # queries or texts, for a jackknife
_TAIL = 0.975  # of Student's distribution, for an interval of 95 %


class Faithfulness(NamedTuple):
    """What a picture keeps. Not a number where it is not defined.

    `correlation` is of distance (or inner product) with the target over the counted pairs of all
    texts pooled, `low` and `high` the ends of its interval of 95 %, and `per_text` the mean of the
    correlations of each text alone. `top1` and `top3` are the shares of each query's first one or
    three keys that are also its nearest; `pairs` is how many pairs count.
    """

    correlation: float
    top1: float
    top3: float
    low: float
    high: float
    per_text: float
    pairs: int


class Baseline(NamedTuple):
    """The shares that uniform guessing keeps on average: random points, in any order."""

    top1: float
    top3: float


def faithfulness(target: Target, picture: Embedding, reading: Reading = "distance") -> Faithfulness:
    """Compare the picture of one text's head with its target.

    Near means a small distance, or a large inner product.
    """
    if reading == "inner product":
        return compare_matrix(target, inner_products(picture), nearer=1)
    return compare_matrix(target, plane_distances(picture))


def compare_matrix(target: Target, measured: Floats, nearer: Literal[-1, 1] = -1) -> Faithfulness:
    """Compare what was measured of every query and key of one text, (token, token)."""
    return compare(target, target.rows.of_matrix(measured), nearer)


def compare(target: Target, measured: Floats, nearer: Literal[-1, 1] = -1) -> Faithfulness:
    """Compare what was measured of every pair with the target.

    `measured` is (pair,): distances, or with `nearer` 1 inner products.
    """
    rows = target.rows
    if not measured.size:
        nothing = float("nan")
        return Faithfulness(nothing, nothing, nothing, nothing, nothing, nothing, 0)
    x, y = less_mean(measured, rows, target.kind), target.values
    sums = np.stack([rows.summed(one * other) for one, other in ((x, x), (x, y), (y, y))])
    still = _ROUNDING * float(np.abs(measured).max())
    correlation, low, high, per_text = _correlate(sums, rows, still)
    top1, top3 = _shares(target, nearer * measured)
    return Faithfulness(correlation, top1, top3, low, high, per_text, measured.size)


def uniform_baseline(rows: Rows) -> Baseline:
    """What random points reach on average: `k` of `m` keys meet `k` others with share k / m."""
    if not rows.counts.size:
        return Baseline(float("nan"), float("nan"))
    return Baseline(*(float((np.minimum(k, rows.counts) / rows.counts).mean()) for k in _SHARES))


def plane_distances(picture: Embedding) -> Floats:
    """Euclidean distance of every query to every key in the picture, (token, token)."""
    return distances_between(picture.queries, picture.keys)


def inner_products(picture: Embedding) -> Floats:
    """Inner product of every query with every key in the picture, (token, token)."""
    return np.asarray(picture.queries @ picture.keys.T)


def _correlate(sums: Floats, rows: Rows, still: float) -> tuple[float, float, float, float]:
    """The pooled correlation, its interval, and the mean over texts.

    `sums` are of x x, x y and y y over each row, (3, row); `still` is what of x is rounding.
    """
    nothing = float("nan")
    firsts = np.flatnonzero(np.diff(rows.texts, prepend=-1))
    texts = np.add.reduceat(sums, firsts, axis=1)  # (3, text)
    xx, xy, yy = texts.sum(axis=1)
    if not (xx > rows.keys.size * still**2 and yy > 0):
        return nothing, nothing, nothing, nothing
    correlation = float(np.clip(xy / np.sqrt(xx * yy), -1, 1))
    low, high = _interval(sums if texts.shape[1] == 1 else texts, correlation)
    alone = _ratio(texts, still)
    alone = alone[np.isfinite(alone)]
    return correlation, low, high, float(alone.mean()) if alone.size else nothing


def _interval(groups: Floats, correlation: float) -> tuple[float, float]:
    """An interval of 95 % from a jackknife over groups of pairs, whose sums are (3, group)."""
    from scipy.special import stdtrit

    groups = groups[:, groups[2] > 0]
    count = groups.shape[1]
    if count < _LEAST_LEFT_OUT or abs(correlation) > 1 - _ROUNDING:
        return float("nan"), float("nan")
    without = _ratio(groups.sum(axis=1, keepdims=True) - groups, 0.0)
    z = np.arctanh(np.clip(without, -1 + _ROUNDING, 1 - _ROUNDING))
    error = np.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(count - 1, _TAIL)) * error
    middle = np.arctanh(correlation)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _ratio(sums: Floats, still: float) -> Floats:
    """The correlation of each group whose sums of x x, x y and y y are (3, group)."""
    xx, xy, yy = sums
    known = (xx > still**2) & (yy > 0)
    root = np.sqrt(np.where(known, xx * yy, 1.0))
    return np.where(known, np.clip(xy / root, -1, 1), np.nan)


def _shares(target: Target, nearness: Floats) -> tuple[float, float]:
    """For k = 1 and 3, the share of each query's k strongest keys that are its k nearest.

    The mean over queries; one with fewer than k keys counts with those it has.
    """
    rows = target.rows
    most = np.minimum(FIRST_KEYS, rows.counts)
    ranks = np.stack([_ranks(nearness, strongest, rows) for strongest in target.strongest])
    counted = np.arange(FIRST_KEYS)[:, None] < most
    three = ((ranks < most) & counted).sum(axis=0) / most
    return float((ranks[0] == 0).mean()), float(three.mean())


def _ranks(nearness: Floats, pairs: NDArray[np.intp], rows: Rows) -> NDArray[np.intp]:
    """How many keys of its row are nearer than the key of one pair a row; of equals the earlier."""
    own = rows.spread(nearness[pairs])
    nearer = nearness > own
    same = nearness == own
    if np.count_nonzero(same) > pairs.size:  # ties
        nearer |= same & (np.arange(nearness.size) < np.repeat(pairs, rows.counts))
    return np.asarray(np.add.reduceat(nearer, rows.starts, dtype=np.intp))
