"""Distance against dot product of one head, pair by pair (AttentionViz, Yeh et al. 2023, fig. 4).

Drawn is what is correlated everywhere (:mod:`core.analysis.query_key.faithfulness`): with
row-centred scores both sides lose the mean of their row, with raw scores neither does. So the slope
of the line has the sign of the correlation, and points on the line are what a correlation of 1
would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.pairs import exact_scores
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import compare
from core.analysis.query_key.fitted_line import FittedLine, fit_line
from core.analysis.query_key.target import head_target, less_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.query_key.clouds import Vectors
    from core.analysis.query_key.distance import Distance
    from core.analysis.query_key.target import TargetKind
    from core.model.trace import Trace

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

MOST_POINTS = 4_000  # pairs: about 63 tokens; more would hide each other, and are drawn as density
_BINS = 60  # of the density, each way


@dataclass(frozen=True, eq=False)
class PairScatter:
    """The counted pairs of one head at one stage: permitted, of queries with two keys or more.

    Attributes
    ----------
    queries, keys : positions, (pair,), query after query.
    scores : as softmax gets them, the same at every stage, (pair,).
    distances : of the query to the key in full space, (pair,).
    attention : (pair,).
    x, y : what is drawn of scores and distances: less the mean of their row, or as they are.
    strongest : whether the key is the one that its query attends to most, bool (pair,).
    line : y by x; None where scores do not vary.
    correlation : of y with x; not a number where either does not vary.
    left_out : queries that see one key and tell nothing.
    """

    queries: Places
    keys: Places
    scores: Floats
    distances: Floats
    attention: Floats
    x: Floats
    y: Floats
    strongest: NDArray[np.bool_]
    line: FittedLine | None
    correlation: float
    left_out: int

    def find(self, query: int, key: int) -> int | None:
        """Which pair this is; None when it does not count."""
        places = np.flatnonzero((self.queries == query) & (self.keys == key))
        return int(places[0]) if places.size else None


class Density(NamedTuple):
    """How many pairs lie in each cell: `counts` (y, x) and the edges of the cells."""

    counts: Floats
    x_edges: Floats
    y_edges: Floats


def pair_scatter(
    trace: Trace,
    layer: int,
    head: int,
    vectors: Vectors,
    distance: Distance = "euclidean",
    target: TargetKind = "centred",
) -> PairScatter:
    """Every counted pair of one head; `vectors` are its queries and keys at some stage."""
    goal = head_target(trace, layer, head, target)
    rows = goal.rows
    scores = rows.of_matrix(exact_scores(trace, layer, head))
    distances = rows.of_matrix(distances_between(vectors.queries, vectors.keys, distance))
    raw = target == "raw"
    x = scores if raw else goal.values
    y = distances if raw else less_mean(distances, rows, target)
    strongest = np.zeros(scores.size, dtype=np.bool_)
    strongest[goal.strongest[0]] = True
    return PairScatter(
        queries=np.repeat(rows.queries, rows.counts),
        keys=rows.keys,
        scores=scores,
        distances=distances,
        attention=rows.of_matrix(trace.attention(layer, head).astype(np.float64)),
        x=x,
        y=y,
        strongest=strongest,
        line=fit_line(x, y),
        correlation=compare(goal, distances).correlation,
        left_out=len(trace.tokens) - rows.queries.size,
    )


def density_of(scatter: PairScatter) -> Density:
    """How many pairs lie where, in equal cells."""
    counts, x_edges, y_edges = np.histogram2d(scatter.x, scatter.y, bins=_BINS)
    return Density(counts.T, x_edges, y_edges)
