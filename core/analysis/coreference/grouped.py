"""Means of values that come in groups, with intervals: resampling draws whole groups.

Efron and Tibshirani 1993, chapter 13 (percentile intervals); for many means at once the largest
studentized deviation in each resample (Romano and Wolf 2005, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.statistics import CONFIDENCE, percentiles, times_drawn

RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each group was drawn."""

    groups: Indices  # (value,), the group of each value, from 0
    times: Floats  # float64 (resample, group)

    def means(self, values: Floats) -> Floats:
        """The mean of each column of `values` (value, column), (resample, column)."""
        count = self.times.shape[1]
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, self.groups, values)
        sizes = np.bincount(self.groups, minlength=count).astype(np.float64)
        return np.asarray((self.times @ sums) / (self.times @ sizes)[:, None], dtype=np.float64)


def draw_groups(groups: Indices) -> Draws:
    """Draw as many groups as there are, with replacement, `RESAMPLES` times."""
    count = int(groups.max()) + 1
    return Draws(groups, times_drawn(count, RESAMPLES))


def interval(values: Floats, draws: Draws) -> Floats:
    """Mean of each column of `values` (value, column) and its 95 % interval, (3, column).

    The bounds are nan where there is one group, which says nothing about others.
    """
    mean = values.mean(axis=0)
    if draws.times.shape[1] == 1:
        return np.stack([mean, *np.full((2, *mean.shape), np.nan)])
    return np.stack([mean, *percentiles(draws.means(values))])


def lower_bounds(values: Floats, draws: Draws) -> Floats:
    """Bounds that all columns' true means exceed at once with 95 % confidence, (column,).

    mean - q * se, where q is what the largest of (resampled mean - mean) / se over the columns
    stays below in 95 % of the resamples. So the best of many columns is judged as the best of many.
    Minus infinity where there is one group.
    """
    mean = values.mean(axis=0)
    if draws.times.shape[1] == 1:
        return np.full_like(mean, -np.inf)
    resampled = draws.means(values)
    error = resampled.std(axis=0)
    varies = error > np.finfo(np.float64).eps * 16
    if not varies.any():
        return np.asarray(mean, dtype=np.float64)
    largest = ((resampled - mean)[:, varies] / error[varies]).max(axis=1)
    return np.asarray(mean - np.quantile(largest, CONFIDENCE) * error, dtype=np.float64)
