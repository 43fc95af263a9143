"""The scaling constant c of every head: by correlation over a grid, or by balancing norms.

After the keys are translated, queries c q and keys (k + a) / c leave attention as it is for any c,
but not the distances between them. AttentionViz chooses the c of each head at which distance and
dot product correlate best (nearest -1), so that what lies close attends; see Yeh et al. 2023,
section 5.1.1, and its co-author's study of the constant. Here distance is correlated with the
head's target, which translation does not move: see :mod:`core.analysis.query_key.target`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np

from core.analysis.normalization import key_translation, normalize
from core.analysis.query_key.correlation import (
    choose_pairs,
    closed_form_c,
    correlations,
    pair_table,
)
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import Faithfulness, compare_matrix
from core.analysis.query_key.target import head_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from core.analysis.query_key.correlation import Measure, PairTable
    from core.analysis.query_key.distance import Distance
    from core.analysis.query_key.target import TargetKind
    from core.model.trace import Trace

    Floats = NDArray[np.float64]

Result = TypeVar("Result")
Criterion = Literal["pearson", "spearman", "weighted", "balanced"]

PUBLISHED_GRID = (0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0)
FINE_GRID = np.geomspace(0.05, 20, 53)  # a factor of 1.12 from one to the next
C_VALUES: NDArray[np.float64] = np.unique(np.concatenate([FINE_GRID, PUBLISHED_GRID]))
FEW_PAIRS = 30  # with fewer pairs of any weight a weighted correlation is chance
_MAX_THREADS = 4


class Stages(NamedTuple):
    """What full space keeps of attention: as it is, after translation, and after scaling by c."""

    raw: Faithfulness
    translated: Faithfulness
    normalized: Faithfulness


@dataclass(frozen=True, eq=False)
class ChosenC:
    """The constant of one head, and how it was chosen.

    Attributes
    ----------
    c : the constant; 1 where no correlation is defined.
    curve : the criterion at each of ``C_VALUES``; not a number where it is not defined.
    carrying : how many pairs carry any weight at c.
    on_edge : the best c is the smallest or the largest tried.
    flat : the curve does not depend on c.
    """

    c: float
    curve: Floats
    carrying: int
    on_edge: bool
    flat: bool


@dataclass(frozen=True, eq=False)
class HeadScaling(ChosenC):
    """The constants of one head and what they do to it.

    Attributes
    ----------
    a : translation of the keys, (dim,).
    faithfulness : what full space keeps at each stage, over all counted pairs.
    pairs : how many pairs the curve is made of, and how many count.
    """

    a: Floats
    faithfulness: Stages
    pairs: tuple[int, int]

    @property
    def raw(self) -> float:
        """Correlation before anything."""
        return self.faithfulness.raw.correlation

    @property
    def translated(self) -> float:
        """Correlation after translation."""
        return self.faithfulness.translated.correlation

    @property
    def normalized(self) -> float:
        """Correlation after translation and scaling by c."""
        return self.faithfulness.normalized.correlation


@dataclass(frozen=True, eq=False)
class ModelScaling:
    """The same figures for every head, each float64 or bool (layer, head).

    `raw_top1` and `normalized_top1` are the shares of queries whose nearest key is the one they
    attend to most.
    """

    raw: Floats
    translated: Floats
    normalized: Floats
    c: Floats
    on_edge: NDArray[np.bool_]
    few: NDArray[np.bool_]
    raw_top1: Floats
    normalized_top1: Floats


def scale_head(
    trace: Trace,
    layer: int,
    head: int,
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
    target: TargetKind = "centred",
) -> HeadScaling:
    """Translate the keys of one head, then choose its c.

    Parameters
    ----------
    distance : between a query and a key; "cosine" does not depend on c.
    criterion : the correlation that is brought nearest to -1, over the counted pairs; or
        "balanced", which makes the median norms of queries and translated keys equal.
    target : what distance is correlated with, by the criterion and by what is told of each stage.
    """
    queries = trace.queries[layer, head].astype(np.float64)
    keys = trace.kv_keys[layer, head // trace.group].astype(np.float64)
    goal = head_target(trace, layer, head, target)
    pairs = choose_pairs(goal.rows, _measure(criterion))

    def keep(own: Floats, others: Floats) -> Faithfulness:
        return compare_matrix(goal, distances_between(own, others, distance))

    return scale_vectors(
        queries,
        keys,
        lambda q, k: pair_table(q, k, goal, pairs),
        keep,
        (pairs.size, goal.values.size),
        distance,
        criterion,
    )


def scale_vectors(
    queries: Floats,
    keys: Floats,
    table: Callable[[Floats, Floats], PairTable],
    keep: Callable[[Floats, Floats], Faithfulness],
    pairs: tuple[int, int],
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
) -> HeadScaling:
    """:func:`scale_head` for queries and keys (token, dim) of any origin.

    Parameters
    ----------
    table : what is known of the pairs that the criterion looks at, of these queries and keys.
    keep : what these queries and keys keep of attention.
    pairs : how many pairs are in the table, and how many count.
    """
    a = key_translation(queries, keys)
    chosen = choose_c(queries, keys + a, table, distance, criterion)
    faithfulness = Stages(
        keep(queries, keys),
        keep(queries, keys + a),
        keep(*normalize(queries, keys, a, chosen.c)),
    )
    return HeadScaling(**vars(chosen), a=a, faithfulness=faithfulness, pairs=pairs)


def choose_c(
    queries: Floats,
    keys: Floats,
    table: Callable[[Floats, Floats], PairTable],
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
) -> ChosenC:
    """The constant of one head whose keys are translated; `queries` and `keys` are (token, dim)."""
    measure = _measure(criterion)
    moved = table(queries, keys)
    curve = correlations(moved, C_VALUES, distance, measure)
    c = balanced_c(queries, keys) if criterion == "balanced" else _best(curve.values)
    return ChosenC(
        c=c,
        curve=curve.values,
        carrying=int(correlations(moved, np.array([c]), distance, measure).carrying[0]),
        on_edge=criterion != "balanced" and distance != "cosine" and _on_edge(c, curve.values),
        flat=distance == "cosine",
    )


def scale_model(
    trace: Trace,
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
    target: TargetKind = "centred",
) -> ModelScaling:
    """:func:`scale_head` for every head of the model, on all processors."""
    layers, heads = trace.shape[:2]
    scalings = every_head(
        layers,
        heads,
        lambda layer, head: scale_head(trace, layer, head, distance, criterion, target),
    )
    return collect_scalings(scalings, layers, criterion)


def every_head(layers: int, heads: int, function: Callable[[int, int], Result]) -> list[Result]:
    """`function` of every (layer, head), layer after layer, on all processors.

    BLAS gets one thread in each: a head's matrices are too small to gain from more.
    """
    from concurrent.futures import ThreadPoolExecutor
    from os import cpu_count

    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(min(_MAX_THREADS, cpu_count() or 1)) as pool,
    ):
        return list(pool.map(lambda index: function(*index), np.ndindex(layers, heads)))


def collect_scalings(
    scalings: Sequence[HeadScaling], layers: int, criterion: Criterion = "pearson"
) -> ModelScaling:
    """The figures of all heads, given layer after layer, as maps."""

    def collect(values: list[float]) -> Floats:
        return np.array(values, dtype=np.float64).reshape(layers, -1)

    return ModelScaling(
        raw=collect([each.raw for each in scalings]),
        translated=collect([each.translated for each in scalings]),
        normalized=collect([each.normalized for each in scalings]),
        c=collect([each.c for each in scalings]),
        on_edge=collect([each.on_edge for each in scalings]).astype(bool),
        few=collect([few_pairs(each, criterion) for each in scalings]).astype(bool),
        raw_top1=collect([each.faithfulness.raw.top1 for each in scalings]),
        normalized_top1=collect([each.faithfulness.normalized.top1 for each in scalings]),
    )


def balanced_c(queries: Floats, keys: Floats) -> float:
    """The c at which queries c q and keys k / c have equal median norms: sqrt(med|k| / med|q|).

    The co-author's study writes the same constant the other way round (k c, q / c). 1 where a
    median norm is 0. `queries` and `keys` are (token, dim).
    """
    of_queries, of_keys = (
        float(np.median(np.linalg.norm(each, axis=-1))) for each in (queries, keys)
    )
    return float(np.sqrt(of_keys / of_queries)) if of_queries > 0 and of_keys > 0 else 1.0


@dataclass(frozen=True, eq=False)
class SquaredDistance:
    """For squared Euclidean distance: Pearson's r over c, and its optimum twice.

    `closed_form` is None where no interior optimum exists: the best c lies at 0 or infinity.
    """

    curve: Floats
    closed_form: float | None
    on_grid: float


def squared_distance(
    trace: Trace, layer: int, head: int, a: Floats, target: TargetKind = "centred"
) -> SquaredDistance:
    """The optimum for squared Euclidean distance by formula and on the grid, to compare."""
    queries = trace.queries[layer, head].astype(np.float64)
    keys = trace.kv_keys[layer, head // trace.group] + a
    goal = head_target(trace, layer, head, target)
    pairs = choose_pairs(goal.rows, "pearson")
    table = pair_table(queries, keys, goal, pairs)
    curve = correlations(table, C_VALUES, "squared euclidean", "pearson").values
    return SquaredDistance(curve, closed_form_c(table), _best(curve))


def _measure(criterion: Criterion) -> Measure:
    return "pearson" if criterion == "balanced" else criterion


def few_pairs(scaling: ChosenC, criterion: Criterion) -> bool:
    """Whether so few pairs carry weight that the criterion is chance."""
    return criterion == "weighted" and scaling.carrying < FEW_PAIRS


def _best(curve: Floats) -> float:
    """The c whose correlation is nearest -1; of equals the one nearest 1; 1 where there is none."""
    defined = np.isfinite(curve)
    if not defined.any():
        return 1.0
    lowest = curve[defined].min()
    candidates = C_VALUES[defined & (curve <= lowest + 1e-9)]
    return float(candidates[np.abs(np.log(candidates)).argmin()])


def _on_edge(c: float, curve: Floats) -> bool:
    return bool(np.isfinite(curve).any() and c in {C_VALUES[0], C_VALUES[-1]})
