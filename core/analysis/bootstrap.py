"""The percentile bootstrap (Efron and Tibshirani 1993, chapter 13), once for all analyses."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats

RESAMPLES = 1000
LEVEL = 0.95
SEED = 20_190_611  # so that the same values give the same intervals


def times_drawn(count: int, resamples: int = RESAMPLES) -> Floats:
    """How often each of `count` is drawn with replacement, float64 (resample, count)."""
    drawn = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), resamples)
    return drawn.astype(np.float64)


def percentiles(resampled: Floats) -> Floats:
    """The middle `LEVEL` of the resamples (resample, ...), (2, ...); nan where all are nan."""
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    if np.isfinite(resampled).all():
        return np.quantile(resampled, tails, axis=0)
    defined = np.isfinite(resampled).any(axis=0)
    bounds = np.full((2, *resampled.shape[1:]), np.nan)
    bounds[:, defined] = np.nanquantile(resampled[:, defined], tails, axis=0)
    return bounds


def interval_of_mean(values: Floats) -> Floats:
    """The interval of the mean over the first axis, (2, ...); nan for one value, or for nan.

    >>> interval_of_mean(np.array([1.0, 1.0, 1.0]))
    array([1., 1.])
    """
    count = len(values)
    if count == 1:
        return np.full((2, *values.shape[1:]), np.nan)
    return percentiles(np.tensordot(times_drawn(count) / count, values, axes=1))
