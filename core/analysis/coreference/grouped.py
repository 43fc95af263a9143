"""Means of values that come in groups, with intervals: what is drawn anew is the group.

Efron and Tibshirani 1993, chapter 13 (percentile intervals); for many means at once the largest
studentized deviation in each resample (Romano and Wolf 2005, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95
SEED = 20_190_611  # so that the same values give the same intervals


@dataclass(frozen=True)
class Estimate:
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimates:
    """Means and the bounds of their 95 % intervals, (column,) each."""

    mean: Floats
    low: Floats
    high: Floats

    def of(self, column: int) -> Estimate:
        """One of them."""
        return Estimate(*(float(each[column]) for each in (self.mean, self.low, self.high)))


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each group was drawn.

    Attributes
    ----------
    groups : (value,), the group of each value, from 0.
    times : float64 (resample, group).
    """

    groups: NDArray[np.intp]
    times: Floats


def draw_groups(groups: NDArray[np.intp]) -> Draws:
    """Draw as many groups as there are, with replacement, `RESAMPLES` times."""
    count = int(groups.max()) + 1
    generator = np.random.default_rng(SEED)
    times = generator.multinomial(count, np.full(count, 1 / count), RESAMPLES)
    return Draws(groups, times.astype(np.float64))


def interval(values: Floats, draws: Draws) -> Estimates:
    """Mean of each column of `values` (value, column), and its percentile interval.

    The bounds are not numbers where there is one group, which says nothing about others.
    """
    mean = values.mean(axis=0)
    if draws.times.shape[1] == 1:
        unknown = np.full_like(mean, np.nan)
        return Estimates(mean, unknown, unknown)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(_resampled(values, draws), tails, axis=0)
    return Estimates(mean, low, high)


def lower_bounds(values: Floats, draws: Draws) -> Floats:
    """Bounds that all columns' true means lie above at once with 95 % confidence, (column,).

    mean - q * se, where q is what the largest of (resampled mean - mean) / se over the columns
    stays below in 95 % of the resamples. So the best of many columns is judged as the best of many.
    Minus infinity where there is one group.
    """
    mean = values.mean(axis=0)
    if draws.times.shape[1] == 1:
        return np.full_like(mean, -np.inf)
    again = _resampled(values, draws)
    error = again.std(axis=0)
    varies = error > np.finfo(np.float64).eps * 16
    if not varies.any():
        return np.asarray(mean, dtype=np.float64)
    largest = ((again - mean)[:, varies] / error[varies]).max(axis=1)
    return np.asarray(mean - np.quantile(largest, LEVEL) * error, dtype=np.float64)


def _resampled(values: Floats, draws: Draws) -> Floats:
    """The mean of each column in each resample, (resample, column)."""
    count = draws.times.shape[1]
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, draws.groups, values)
    sizes = np.bincount(draws.groups, minlength=count).astype(np.float64)
    return np.asarray((draws.times @ sums) / (draws.times @ sizes)[:, None], dtype=np.float64)
