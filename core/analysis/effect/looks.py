"""Importance against looks: any two measures of heads, and how they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from core.analysis.head_patterns.table import SCORES
from core.analysis.statistics import RESAMPLES, SEED, percentiles

if TYPE_CHECKING:
    import pandas as pd

ODD = ("sink_attention", "null_attention", "norm_log_ratio", "rank")  # of the anomaly table


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho, its bootstrap interval over heads, and over how many heads."""

    rho: float
    low: float
    high: float
    heads: int


def looks_table(
    table: pd.DataFrame, patterns: pd.DataFrame, anomalies: pd.DataFrame
) -> pd.DataFrame:
    """The effect table with what the same heads look like, a row a head.

    `table`, `patterns` and `anomalies` are of ``effect_table``, ``pattern_table`` and
    ``anomaly_table`` on one text. Adds ``size``, the effect without its sign, the scores of
    patterns, and `ODD`.
    """
    scores = [name for name in SCORES if name in patterns]
    sized = table.assign(size=table["effect"].abs())
    return sized.join(patterns[scores]).join(anomalies[list(ODD)])


def rank_correlation(first: ArrayLike, second: ArrayLike) -> RankCorrelation | None:
    """How two measures of the same heads go together; heads without one of them are left out.

    The interval is the percentile bootstrap over heads (:mod:`core.analysis.statistics`). None for
    fewer than four heads, or where one of the measures is the same for all.
    """
    pairs = np.column_stack([np.asarray(each, dtype=float) for each in (first, second)])
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    rho = _rho(pairs)
    if len(pairs) < 4 or not np.isfinite(rho):
        return None
    generator = np.random.default_rng(SEED)
    drawn = generator.integers(len(pairs), size=(RESAMPLES, len(pairs)))
    resampled = np.array([_rho(pairs[rows]) for rows in drawn])
    low, high = percentiles(resampled)
    return RankCorrelation(rho, float(low), float(high), len(pairs))


def _rho(pairs: np.ndarray) -> float:
    from scipy.stats import rankdata

    if len(pairs) < 2:
        return float("nan")
    ranks = rankdata(pairs, axis=0)
    centred = ranks - ranks.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    return float(centred.prod(axis=1).sum() / spread.prod()) if spread.all() else float("nan")
