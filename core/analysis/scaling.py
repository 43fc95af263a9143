"""The scaling constant c of every head: by correlation over a grid, or by balancing norms.

After the keys are translated, queries c q and keys (k + a) / c leave attention as it is for any c,
but not the distances between them. AttentionViz chooses the c of each head at which distance and
dot product correlate best (nearest -1), so that what lies close attends; see Yeh et al. 2023,
section 5.1.1, and its co-author's study of the constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.correlation import choose_pairs, closed_form_c, correlations, pair_table
from core.analysis.every_head import every_head
from core.analysis.normalization import key_translation
from core.analysis.pairs import permitted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from core.analysis.correlation import Distance, Measure, PairTable
    from core.model.trace import Trace

Criterion = Literal["pearson", "spearman", "weighted", "balanced"]

PUBLISHED_GRID = (0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0)
FINE_GRID = np.geomspace(0.05, 20, 53)  # a factor of 1.12 from one to the next
C_VALUES: NDArray[np.float64] = np.unique(np.concatenate([FINE_GRID, PUBLISHED_GRID]))
FEW_PAIRS = 30  # with fewer pairs of any weight a weighted correlation is chance


@dataclass(frozen=True, eq=False)
class HeadScaling:
    """The constants of one head and what they do to it.

    Attributes
    ----------
    a : translation of the keys, (dim,).
    c : the constant; 1 where no correlation is defined.
    curve : the correlation at each of ``C_VALUES``; not a number where it is not defined.
    raw, translated, normalized : the correlation of distance with dot product, before anything,
        after translation, and after scaling by c.
    carrying : how many pairs carry any weight at c.
    pairs : how many pairs were used, and how many the head permits.
    on_edge : the best c is the smallest or the largest tried.
    flat : the curve does not depend on c.
    """

    a: NDArray[np.float64]
    c: float
    curve: NDArray[np.float64]
    raw: float
    translated: float
    normalized: float
    carrying: int
    pairs: tuple[int, int]
    on_edge: bool
    flat: bool


@dataclass(frozen=True, eq=False)
class ModelScaling:
    """The same figures for every head, each float64 or bool (layer, head)."""

    raw: NDArray[np.float64]
    translated: NDArray[np.float64]
    normalized: NDArray[np.float64]
    c: NDArray[np.float64]
    on_edge: NDArray[np.bool_]
    few: NDArray[np.bool_]


def scale_head(
    trace: Trace,
    layer: int,
    head: int,
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
) -> HeadScaling:
    """Translate the keys of one head, then choose its c.

    Parameters
    ----------
    distance : between a query and a key; "cosine" does not depend on c.
    criterion : the correlation that is brought nearest to -1, over all permitted pairs; or
        "balanced", which makes the median norms of queries and translated keys equal.
    """
    queries = trace.queries[layer, head].astype(np.float64)
    keys = trace.kv_keys[layer, head // trace.group].astype(np.float64)
    allowed = permitted(trace, layer, head)
    pairs = choose_pairs(allowed, _measure(criterion))
    return scale_vectors(
        queries,
        keys,
        lambda q, k: pair_table(q, k, pairs),
        (pairs.size, int(allowed.sum())),
        distance,
        criterion,
    )


def scale_vectors(
    queries: NDArray[np.float64],
    keys: NDArray[np.float64],
    table: Callable[[NDArray[np.float64], NDArray[np.float64]], PairTable],
    pairs: tuple[int, int],
    distance: Distance = "euclidean",
    criterion: Criterion = "pearson",
) -> HeadScaling:
    """:func:`scale_head` for queries and keys (token, dim) of any origin.

    Parameters
    ----------
    table : what is known of the pairs that count, of these queries and keys.
    pairs : how many pairs that are, and how many the head permits.
    """
    measure = _measure(criterion)
    a = key_translation(queries, keys)
    raw, moved = table(queries, keys), table(queries, keys + a)
    curve = correlations(moved, C_VALUES, distance, measure)
    c = balanced_c(queries, keys + a) if criterion == "balanced" else _best(curve.values)
    one = np.ones(1)
    at_c = correlations(moved, np.array([c]), distance, measure)
    return HeadScaling(
        a=a,
        c=c,
        curve=curve.values,
        raw=float(correlations(raw, one, distance, measure).values[0]),
        translated=float(correlations(moved, one, distance, measure).values[0]),
        normalized=float(at_c.values[0]),
        carrying=int(at_c.carrying[0]),
        pairs=pairs,
        on_edge=criterion != "balanced" and distance != "cosine" and _on_edge(c, curve.values),
        flat=distance == "cosine",
    )


def scale_model(
    trace: Trace, distance: Distance = "euclidean", criterion: Criterion = "pearson"
) -> ModelScaling:
    """:func:`scale_head` for every head of the model, on all processors."""
    layers, heads = trace.shape[:2]
    found = every_head(
        layers, heads, lambda layer, head: scale_head(trace, layer, head, distance, criterion)
    )
    return collect_scalings(found, layers, criterion)


def collect_scalings(
    found: Sequence[HeadScaling], layers: int, criterion: Criterion = "pearson"
) -> ModelScaling:
    """The figures of all heads, given layer after layer, as maps."""

    def collect(values: list[float]) -> NDArray[np.float64]:
        return np.array(values, dtype=np.float64).reshape(layers, -1)

    return ModelScaling(
        raw=collect([each.raw for each in found]),
        translated=collect([each.translated for each in found]),
        normalized=collect([each.normalized for each in found]),
        c=collect([each.c for each in found]),
        on_edge=collect([each.on_edge for each in found]).astype(bool),
        few=collect([few_pairs(each, criterion) for each in found]).astype(bool),
    )


def balanced_c(queries: NDArray[np.float64], keys: NDArray[np.float64]) -> float:
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

    curve: NDArray[np.float64]
    closed_form: float | None
    on_grid: float


def squared_distance(
    trace: Trace, layer: int, head: int, a: NDArray[np.float64]
) -> SquaredDistance:
    """The optimum for squared Euclidean distance by formula and on the grid, to compare."""
    queries = trace.queries[layer, head].astype(np.float64)
    keys = trace.kv_keys[layer, head // trace.group] + a
    pairs = choose_pairs(permitted(trace, layer, head), "pearson")
    table = pair_table(queries, keys, pairs)
    curve = correlations(table, C_VALUES, "squared euclidean", "pearson").values
    return SquaredDistance(curve, closed_form_c(table), _best(curve))


def _measure(criterion: Criterion) -> Measure:
    return "pearson" if criterion == "balanced" else criterion


def few_pairs(scaling: HeadScaling, criterion: Criterion) -> bool:
    """Whether so few pairs carry weight that the correlation is chance."""
    return criterion == "weighted" and scaling.carrying < FEW_PAIRS


def _best(curve: NDArray[np.float64]) -> float:
    """The c whose correlation is nearest -1; of equals the one nearest 1; 1 where there is none."""
    defined = np.isfinite(curve)
    if not defined.any():
        return 1.0
    lowest = curve[defined].min()
    candidates = C_VALUES[defined & (curve <= lowest + 1e-9)]
    return float(candidates[np.abs(np.log(candidates)).argmin()])


def _on_edge(c: float, curve: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(curve).any() and c in {C_VALUES[0], C_VALUES[-1]})
