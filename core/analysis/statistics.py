"""Tests of many heads at once: ranks among random directions, and their error rates."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Bools, Floats


def rank_p(values: Floats, draws: Floats) -> Floats:
    """How often chance does as well, one-sided: (1 + draws at or above) / (1 + draws).

    `values` (...,) against `draws` (draw, ...) of their own (Phipson and Smyth 2010); nan where a
    value is nan.

    >>> rank_p(np.array([2.0]), np.array([[1.0], [2.0], [0.0]]))
    array([0.5])
    """
    above = (draws >= values).sum(axis=0)
    return np.where(np.isfinite(values), (1 + above) / (1 + len(draws)), np.nan)


def pooled_p(values: Floats, null: Floats) -> Floats:
    """The same against one `null` for all `values`; those that are nan are left out of it.

    >>> pooled_p(np.array([2.0, 0.5]), np.array([1.0, 2.0, 0.0]))
    array([0.5 , 0.75])
    """
    known = np.sort(null[np.isfinite(null)], axis=None)
    above = len(known) - np.searchsorted(known, values, side="left")
    return np.where(np.isfinite(values), (1 + above) / (1 + len(known)), np.nan)


def gamma_p(values: Floats, draws: Floats) -> Floats:
    """The chance of such a value, (...,), by the gamma law with mean and variance of its `draws`.

    Sums of squares of normal numbers nearly have it (Satterthwaite 1946), which tells smaller
    chances apart than a rank can. `values` and `draws` (draw, ...) are squares, or sums of them.

    >>> gamma_p(np.array([3.0]), np.array([[0.0], [1.0], [2.0]])).round(3)
    array([0.05])
    """
    from scipy.stats import gamma

    mean, variance = draws.mean(axis=0), draws.var(axis=0, ddof=1)
    varies = variance > 0
    centre, spread = np.where(varies, mean, 1.0), np.where(varies, variance, 1.0)
    tail = gamma.sf(values, centre**2 / spread, scale=spread / centre)
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
    """The smallest false discovery rate at which each of `p` is found, of the same shape.

    Benjamini and Hochberg (1995); nan where p is.
    """
    from scipy.stats import false_discovery_control

    rates = np.full(p.shape, np.nan)
    known = np.isfinite(p)
    if known.any():
        rates[known] = false_discovery_control(p[known])
    return rates
