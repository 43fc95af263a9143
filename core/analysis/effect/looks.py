"""Importance against looks: any two measures of heads, and how they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from core.analysis.arrays import Floats
from core.analysis.head_patterns.table import SCORES
from core.analysis.statistics import SEED

if TYPE_CHECKING:
    import pandas as pd

ODD = ("sink_attention", "null_attention", "norm_log_ratio", "rank")  # of the anomaly table


SHUFFLES, ROUNDING = 999, 1e-9


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho within layers, how often shuffled heads have as large a one, of how many."""

    rho: float
    p: float
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


def rank_correlation(
    first: ArrayLike, second: ArrayLike, layers: ArrayLike
) -> RankCorrelation | None:
    """How two measures of the same heads go together; heads without one of them are left out.

    Heads of a layer are alike in much, so ranks are taken within each layer of `layers`, a number
    for each head, and shuffled within it for p, of either sign. None for fewer than four heads, or
    where one of the measures is the same for all of every layer.
    """
    columns = (first, second, layers)
    rows = np.column_stack([np.asarray(each, dtype=float) for each in columns])
    rows = rows[np.isfinite(rows).all(axis=1)]
    own, other = (_ranks_within(rows[:, column], rows[:, 2]) for column in (0, 1))
    size = np.sqrt((own**2).sum() * (other**2).sum())
    if len(rows) < 4 or not size:
        return None
    generator = np.random.default_rng(SEED)
    # A sort by layer, then by chance, is a shuffle within layers.
    ordered = own[np.argsort(rows[:, 2], kind="stable")]
    shuffled = [
        ordered @ other[np.lexsort((generator.random(len(rows)), rows[:, 2]))]
        for _ in range(SHUFFLES)
    ]
    product = float(own @ other)
    as_large = np.abs(shuffled) >= abs(product) * (1 - ROUNDING)
    return RankCorrelation(
        product / float(size), (1 + int(as_large.sum())) / (1 + SHUFFLES), len(rows)
    )


def _ranks_within(values: Floats, layers: Floats) -> Floats:
    """The rank of each value in its layer, less the layer's mean rank."""
    from scipy.stats import rankdata

    ranks = np.zeros(len(values))
    for layer in np.unique(layers):
        own = layers == layer
        ranks[own] = rankdata(values[own]) - (own.sum() + 1) / 2
    return ranks
