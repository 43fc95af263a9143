"""The scaling constant c of every head.

AttentionViz chooses the c of each head so that distance and dot product correlate as close to -1 as
possible: near then means attended (Yeh et al. 2023, section 5.1.1, and its co-author's study of
the constant). Here distance is correlated with the head's target, which translation does not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.arrays import Bools, Floats, in_threads, sample_indices
from core.analysis.normalization import key_translation, normalize
from core.analysis.pairs import head_vectors
from core.analysis.query_key.correlation import (
    MAX_PAIRS,
    Distance,
    Measure,
    PairTable,
    correlations,
    distances_between,
    pair_table,
)
from core.analysis.query_key.faithfulness import Faithfulness, compare_matrix, head_target

if TYPE_CHECKING:
    from core.model.trace import Trace

PUBLISHED_GRID = (0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0)
FINE_GRID = np.geomspace(0.05, 20, 53)  # each value 1.12 times the one before
C_VALUES: Floats = np.unique(np.concatenate([FINE_GRID, PUBLISHED_GRID]))
_TIE = 1e-9  # correlations that differ by less are ties, and the c nearest 1 is taken
_TOLERANCE = 1e-5  # of log c, where the search between two grid values stops
MIN_RELIABLE = 30  # pairs with weight; with fewer, a weighted correlation is mostly noise


class Stages(NamedTuple):
    """Faithfulness in full space: of the raw vectors, after translation, and after scaling by c."""

    raw: Faithfulness
    translated: Faithfulness
    normalized: Faithfulness


@dataclass(frozen=True, eq=False)
class HeadScaling:
    """The constants of one head, how c was chosen, and what they do."""

    a: Floats  # translation of the keys, (dim,)
    c: float  # the constant; 1 where no correlation is defined
    curve: Floats  # the criterion at each of ``C_VALUES``; NaN where undefined
    correlation: float  # the criterion at c
    weighted_pairs: int  # how many pairs have weight at c
    on_edge: bool  # the best c is the smallest or the largest tried
    faithfulness: Stages  # in full space at each stage, over all counted pairs
    pairs: tuple[int, int]  # how many pairs the curve is computed from, and how many are counted


class ModelScaling(NamedTuple):
    """The same figures for every head, (layer, head) each."""

    raw: Floats  # correlations
    translated: Floats
    normalized: Floats
    on_edge: Bools
    few: Bools  # whether too few pairs have weight
    raw_top1: Floats  # the share of queries whose nearest key is the one they attend to most
    normalized_top1: Floats


def scale_head(
    trace: Trace,
    layer: int,
    head: int,
    distance: Distance = "euclidean",
    criterion: Measure = "pearson",
) -> HeadScaling:
    """Translate the keys of one head, then choose its c.

    The `criterion` is the correlation of `distance` and target, over the counted pairs; c brings it
    as close to -1 as possible. Cosine distance does not depend on c.
    """
    goal = head_target(trace, layer, head)
    queries, keys = head_vectors(trace, layer, head)
    a = key_translation(queries, keys)
    pairs = sample_indices(goal.values.size, MAX_PAIRS)
    table = pair_table(queries, keys + a, goal, pairs)
    curve = correlations(table, C_VALUES, distance, criterion).values
    c = best_c(table, distance, criterion, curve)
    at_c = correlations(table, np.array([c]), distance, criterion)
    tried = distance != "cosine" and np.isfinite(curve).any()
    stages = (queries, keys), (queries, keys + a), normalize(queries, keys, a, c)
    return HeadScaling(
        a=a,
        c=c,
        curve=curve,
        correlation=float(at_c.values[0]),
        weighted_pairs=int(at_c.weighted_pairs[0]),
        on_edge=bool(tried and c in {C_VALUES[0], C_VALUES[-1]}),
        faithfulness=Stages(
            *(compare_matrix(goal, distances_between(*each, distance)) for each in stages)
        ),
        pairs=(pairs.size, goal.values.size),
    )


def scale_model(
    trace: Trace, distance: Distance = "euclidean", criterion: Measure = "pearson"
) -> ModelScaling:
    """:func:`scale_head` for every head of the model, on all processors."""

    def figures(place: tuple[int, ...]) -> tuple[float, ...]:
        layer, head = place
        scaling = scale_head(trace, layer, head, distance, criterion)
        raw, translated, normalized = scaling.faithfulness
        correlations = raw.correlation, translated.correlation, normalized.correlation
        flags = scaling.on_edge, few_pairs(scaling, criterion)
        return *correlations, *flags, raw.top1, normalized.top1

    rows = np.array(in_threads(figures, np.ndindex(trace.shape[:2])), dtype=np.float64)
    maps = ModelScaling(*rows.T.reshape(-1, *trace.shape[:2]))
    return maps._replace(on_edge=maps.on_edge > 0, few=maps.few > 0)


def few_pairs(scaling: HeadScaling, criterion: Measure) -> bool:
    """Whether so few pairs have weight that the criterion is mostly noise."""
    return criterion == "weighted" and scaling.weighted_pairs < MIN_RELIABLE


def best_c(table: PairTable, distance: Distance, measure: Measure, curve: Floats) -> float:
    """The c with the correlation closest to -1: the best of the grid, refined between neighbours.

    At an end of the grid it stays there if the correlation falls right up to it. It is 1 for cosine
    distance, which does not depend on c, and if no correlation is defined.
    """
    from scipy.optimize import minimize_scalar

    defined = np.isfinite(curve)
    if distance == "cosine" or not defined.any():
        return 1.0
    lowest = float(curve[defined].min())
    equals = np.flatnonzero(defined & (curve <= lowest + _TIE))
    best = int(equals[np.abs(np.log(C_VALUES[equals])).argmin()])
    neighbours = C_VALUES[[max(best - 1, 0), min(best + 1, C_VALUES.size - 1)]]

    def correlation(log_c: float) -> float:
        value = correlations(table, np.exp([log_c]), distance, measure).values[0]
        return float(value) if np.isfinite(value) else 1.0

    optimum = minimize_scalar(
        correlation, bounds=np.log(neighbours), method="bounded", options={"xatol": _TOLERANCE}
    )
    return float(np.exp(optimum.x) if optimum.fun < lowest - _TIE else C_VALUES[best])
