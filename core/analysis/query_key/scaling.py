"""The scaling constant c of every head: by correlation, or by balancing norms.

AttentionViz chooses the c of each head at which distance and dot product correlate nearest to -1,
so that near means attended (Yeh et al. 2023, section 5.1.1, and its co-author's study of the
constant). Here the distance is correlated with the head's target, which translation does not move.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np

from core.analysis.arrays import Bools, Floats, Indices, one_thread
from core.analysis.normalization import key_translation, normalize
from core.analysis.pairs import head_vectors
from core.analysis.query_key.correlation import (
    Distance,
    Measure,
    PairTable,
    choose_pairs,
    closed_form_c,
    correlations,
    pair_table,
)
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import Faithfulness, compare_matrix
from core.analysis.query_key.target import Target, TargetKind, head_target

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric
    from core.model.trace import Trace

Result = TypeVar("Result")
Criterion = Literal["pearson", "spearman", "weighted", "balanced"]

PUBLISHED_GRID = (0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0)
FINE_GRID = np.geomspace(0.05, 20, 53)  # a factor of 1.12 from one to the next
C_VALUES: Floats = np.unique(np.concatenate([FINE_GRID, PUBLISHED_GRID]))
_TIE = 1e-9  # correlations that differ by less are equal, and the c nearest 1 is taken
_TOLERANCE = 1e-5  # of log c, where the search between two values of the grid ends
MIN_RELIABLE = 30  # pairs with weight; with fewer a weighted correlation is mostly noise
_MAX_THREADS = 4


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
    weighted_pairs: int  # how many pairs carry weight at c
    on_edge: bool  # the best c is the lowest or the highest tried
    faithfulness: Stages  # in full space at each stage, over all counted pairs
    pairs: tuple[int, int]  # how many pairs the curve is made of, and how many count


@dataclass(frozen=True, eq=False)
class ModelScaling:
    """The same figures for every head, (layer, head) each."""

    raw: Floats  # correlations
    translated: Floats
    normalized: Floats
    c: Floats
    on_edge: Bools
    few: Bools  # whether too few pairs carry weight
    raw_top1: Floats  # the share of queries whose nearest key is the one they attend to most
    normalized_top1: Floats


def scale_head(
    trace: Trace,
    layer: int,
    head: int,
    distance: Metric = "euclidean",
    criterion: Criterion = "pearson",
    target: TargetKind = "centred",
) -> HeadScaling:
    """Translate the keys of one head, then choose its c.

    The `criterion` is the correlation of `distance` and `target` that is brought nearest to -1,
    over the counted pairs; or "balanced", which makes the median norms of queries and translated
    keys equal. Cosine distance does not depend on c.
    """
    goal = head_target(trace, layer, head, target)
    return scale_vectors(
        *head_vectors(trace, layer, head),
        goal,
        choose_pairs(goal.rows, _measure(criterion)),
        lambda q, k: compare_matrix(goal, distances_between(q, k, distance)),
        distance,
        criterion,
    )


def scale_vectors(
    queries: Floats,
    keys: Floats,
    target: Target,
    pairs: Indices,
    compare: Callable[[Floats, Floats], Faithfulness],
    distance: Metric = "euclidean",
    criterion: Criterion = "pearson",
    a: Floats | None = None,
) -> HeadScaling:
    """:func:`scale_head` for queries and keys (token, dim) of any origin.

    The criterion looks at the target's `pairs` (indices); `compare` gives the faithfulness. The
    translation `a` (dim,) is that of these vectors unless it is given, as for a sample of a corpus.
    """
    a = key_translation(queries, keys) if a is None else a
    table = pair_table(queries, keys + a, target, pairs)
    measure = _measure(criterion)
    curve = correlations(table, C_VALUES, distance, measure).values
    if criterion == "balanced":
        c = balanced_c(queries, keys + a)
    else:
        c = best_c(table, distance, measure, curve)
    at_c = correlations(table, np.array([c]), distance, measure)
    tried = criterion != "balanced" and distance != "cosine" and np.isfinite(curve).any()
    return HeadScaling(
        a=a,
        c=c,
        curve=curve,
        correlation=float(at_c.values[0]),
        weighted_pairs=int(at_c.weighted_pairs[0]),
        on_edge=bool(tried and c in {C_VALUES[0], C_VALUES[-1]}),
        faithfulness=Stages(
            compare(queries, keys),
            compare(queries, keys + a),
            compare(*normalize(queries, keys, a, c)),
        ),
        pairs=(pairs.size, target.values.size),
    )


def scale_model(
    trace: Trace,
    distance: Metric = "euclidean",
    criterion: Criterion = "pearson",
    target: TargetKind = "centred",
) -> ModelScaling:
    """:func:`scale_head` for every head of the model, on all processors."""
    layers, heads = trace.shape[:2]
    method = (distance, criterion, target)
    scalings = every_head(layers, heads, lambda i, j: scale_head(trace, i, j, *method))
    return collect_scalings(list(scalings), layers, criterion)


def every_head(layers: int, heads: int, function: Callable[[int, int], Result]) -> Iterator[Result]:
    """`function` of every (layer, head), layer by layer, on all processors, a few heads ahead.

    BLAS gets one thread in each: a head's matrices are too small to gain from more.
    """
    threads = min(_MAX_THREADS, os.cpu_count() or 1)
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads)
    with one_thread():
        try:
            for head in np.ndindex(layers, heads):
                waiting.append(pool.submit(function, *head))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            yield from (future.result() for future in waiting)
        finally:
            pool.shutdown(cancel_futures=True)


def collect_scalings(
    scalings: Sequence[HeadScaling], layers: int, criterion: Criterion = "pearson"
) -> ModelScaling:
    """The figures of all heads, given layer by layer, as maps."""

    def collect(value: Callable[[HeadScaling], float]) -> Floats:
        return np.array([value(each) for each in scalings], dtype=np.float64).reshape(layers, -1)

    return ModelScaling(
        raw=collect(lambda each: each.faithfulness.raw.correlation),
        translated=collect(lambda each: each.faithfulness.translated.correlation),
        normalized=collect(lambda each: each.faithfulness.normalized.correlation),
        c=collect(lambda each: each.c),
        on_edge=collect(lambda each: each.on_edge).astype(bool),
        few=collect(lambda each: few_pairs(each, criterion)).astype(bool),
        raw_top1=collect(lambda each: each.faithfulness.raw.top1),
        normalized_top1=collect(lambda each: each.faithfulness.normalized.top1),
    )


def balanced_c(queries: Floats, keys: Floats) -> float:
    """The c at which queries c q and keys k / c have equal median norms: sqrt(med|k| / med|q|).

    The co-author's study writes the same constant the other way round (k c, q / c). 1 where a
    median norm is 0. `queries` and `keys` are (token, dim).
    """
    query_norm, key_norm = (
        float(np.median(np.linalg.norm(vectors, axis=-1))) for vectors in (queries, keys)
    )
    return float(np.sqrt(key_norm / query_norm)) if query_norm > 0 and key_norm > 0 else 1.0


@dataclass(frozen=True, eq=False)
class SquaredDistance:
    """For squared Euclidean distance: Pearson's r over c, and its optimum twice."""

    curve: Floats
    closed_form: float | None  # None where the best c lies at 0 or infinity
    searched: float


def squared_distance(
    trace: Trace, layer: int, head: int, a: Floats, target: TargetKind = "centred"
) -> SquaredDistance:
    """The optimum for squared Euclidean distance by formula and by search, to compare."""
    queries, keys = head_vectors(trace, layer, head)
    goal = head_target(trace, layer, head, target)
    table = pair_table(queries, keys + a, goal, choose_pairs(goal.rows, "pearson"))
    curve = correlations(table, C_VALUES, "squared euclidean", "pearson").values
    searched = best_c(table, "squared euclidean", "pearson", curve)
    return SquaredDistance(curve, closed_form_c(table), searched)


def few_pairs(scaling: HeadScaling, criterion: Criterion) -> bool:
    """Whether so few pairs carry weight that the criterion is mostly noise."""
    return criterion == "weighted" and scaling.weighted_pairs < MIN_RELIABLE


def _measure(criterion: Criterion) -> Measure:
    return "pearson" if criterion == "balanced" else criterion


def best_c(table: PairTable, distance: Distance, measure: Measure, curve: Floats) -> float:
    """The c whose correlation is nearest -1: the best of the grid, then between its neighbours.

    An end of the grid stays where the correlation falls right up to it. For cosine distance, which
    does not depend on c, and where no correlation is defined it is 1.
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

    found = minimize_scalar(
        correlation, bounds=np.log(neighbours), method="bounded", options={"xatol": _TOLERANCE}
    )
    return float(np.exp(found.x) if found.fun < lowest - _TIE else C_VALUES[best])
