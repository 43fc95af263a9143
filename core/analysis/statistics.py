"""Outliers, bootstrap intervals, and tests of many heads at once with controlled error rates."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Bools, Floats

RESAMPLES = 1000
CONFIDENCE = 0.95
MIN_VALUES = 5  # with fewer, too many resamples repeat one value
SEED = 20_190_611  # fixed, so that the same values give the same intervals
OUTLIER = 3.5  # of |z|; Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers"
_MAD_TO_SD = 0.6745  # median absolute deviation of a normal distribution, in units of its sd
_MEAN_TO_SD = 1.253314  # its sd over its mean absolute deviation


def robust_z(values: Floats) -> Floats:
    """(x - median) / MAD over all values, in units of a normal distribution's sd; same shape.

    If more than half of them are equal the MAD is 0, and the mean absolute deviation is used
    instead (Iglewicz and Hoaglin 1993); if all are equal, z is 0. nan is ignored and stays.
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.full(values.shape, np.nan)
    deviations = np.abs(finite - np.median(finite))
    unit = np.median(deviations) / _MAD_TO_SD or deviations.mean() * _MEAN_TO_SD or np.inf
    return np.where(np.isfinite(values), (values - np.median(finite)) / unit, np.nan)


def times_drawn(count: int) -> Floats:
    """How often each of `count` is drawn with replacement, float64 (resample, count)."""
    drawn = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    return drawn.astype(np.float64)


def percentiles(resampled: Floats) -> Floats:
    """The middle `CONFIDENCE` of the resamples (resample, ...), (2, ...); nan where all are nan.

    Efron and Tibshirani 1993, chapter 13.
    """
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    if np.isfinite(resampled).all():
        return np.quantile(resampled, tails, axis=0)
    defined = np.isfinite(resampled).any(axis=0)
    bounds = np.full((2, *resampled.shape[1:]), np.nan)
    bounds[:, defined] = np.nanquantile(resampled[:, defined], tails, axis=0)
    return bounds


def interval_of_mean(values: Floats) -> Floats:
    """The interval of the mean over the first axis, (2, ...); nan for fewer than `MIN_VALUES`.

    The bootstrap-t (Efron and Tibshirani 1993, section 12.5): how far each resample's mean is off,
    in its own standard errors. For skewed values its coverage is close to nominal where the
    percentile bootstrap's is not. No method copes with a mean that a few huge values decide: take
    their logarithm first.

    >>> interval_of_mean(np.array([2.0] * 5))
    array([2., 2.])
    """
    count, mean, spread = len(values), values.mean(axis=0), values.std(axis=0)
    if count < MIN_VALUES:
        return np.full((2, *mean.shape), np.nan)
    shares = times_drawn(count) / count
    scaled = (values - mean) / np.where(spread > 0, spread, 1)
    off = np.tensordot(shares, scaled, axes=1)  # (resample, ...)
    variance = np.tensordot(shares, scaled**2, axes=1) - off**2
    low, high = percentiles(off / np.sqrt(np.maximum(variance, np.finfo(np.float32).eps)))
    return np.stack([mean - high * spread, mean - low * spread])


def rank_p(values: Floats, draws: Floats) -> Floats:
    """How often chance does as well, one-sided: (1 + draws at or above) / (1 + draws).

    `values` (...,) are compared with their own `draws` (draw, ...) (Phipson and Smyth 2010); nan
    where a value is nan.

    >>> rank_p(np.array([2.0]), np.array([[1.0], [2.0], [0.0]]))
    array([0.5])
    """
    above = (draws >= values).sum(axis=0)
    return np.where(np.isfinite(values), (1 + above) / (1 + len(draws)), np.nan)


def pooled_p(values: Floats, null: Floats) -> Floats:
    """The same against one `null` distribution for all `values`; its nan are left out.

    >>> pooled_p(np.array([2.0, 0.5]), np.array([1.0, 2.0, 0.0]))
    array([0.5 , 0.75])
    """
    finite = np.sort(null[np.isfinite(null)], axis=None)
    above = len(finite) - np.searchsorted(finite, values, side="left")
    return np.where(np.isfinite(values), (1 + above) / (1 + len(finite)), np.nan)


def gamma_p(values: Floats, draws: Floats) -> Floats:
    """The chance of such a value, (...,), by the gamma law with mean and variance of its `draws`.

    Sums of squares of normal variables nearly follow it (Satterthwaite 1946); it resolves smaller
    chances than a rank can. `values` and `draws` (draw, ...) are squares, or sums of them.

    >>> gamma_p(np.array([3.0]), np.array([[0.0], [1.0], [2.0]])).round(3)
    array([0.05])
    """
    from scipy.special import gammaincc  # scipy.stats takes half a second to import

    mean, variance = draws.mean(axis=0), draws.var(axis=0, ddof=1)
    varies = variance > 0
    centre, spread = np.where(varies, mean, 1.0), np.where(varies, variance, 1.0)
    tail = gammaincc(centre**2 / spread, np.maximum(values, 0) * centre / spread)
    return np.where(varies, tail, values <= mean)


def holm(p: Floats, level: float) -> Bools:
    """Which of several tests (test,) hold with at most `level` chance of any error (Holm 1979).

    >>> holm(np.array([0.04, 0.01, 0.02]), 0.05)
    array([ True,  True,  True])
    >>> holm(np.array([0.04, 0.03, 0.02]), 0.05)
    array([False, False, False])
    """
    order = np.argsort(p)
    passes = p[order] * np.arange(len(p), 0, -1) <= level
    holds = np.zeros(len(p), dtype=bool)
    holds[order] = np.logical_and.accumulate(passes)
    return holds


def false_discovery(p: Floats) -> Floats:
    """The smallest false discovery rate at which each of `p` is significant, same shape.

    Benjamini and Hochberg (1995); nan where p is. ``scipy.stats.false_discovery_control`` gives
    the same, but takes half a second longer on a cold server.
    """
    rates = np.full(p.shape, np.nan)
    order = np.argsort(p, axis=None)[: np.isfinite(p).sum()]
    at_rank = p.flat[order] * len(order) / np.arange(1, len(order) + 1)
    rates.flat[order] = np.minimum(np.minimum.accumulate(at_rank[::-1])[::-1], 1)
    return rates
