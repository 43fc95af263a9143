"""Distance against dot product of one head, pair by pair (AttentionViz, Yeh et al. 2023, fig. 4).

The picture shows what is correlated everywhere else: with row-centred scores both sides lose the
mean of their row, with raw scores neither does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.pairs import exact_scores
from core.analysis.projections.joint_embedding import Metric
from core.analysis.query_key.clouds import Vectors
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import compare
from core.analysis.query_key.layer_search import FittedLine, fit_line
from core.analysis.query_key.target import TargetKind, head_target, less_mean
from core.model.trace import Trace

MAX_POINTS = 4_000  # pairs, about 63 tokens; more would hide each other: their density is drawn
_BINS = 60  # of the density, each way


@dataclass(frozen=True, eq=False)
class PairScatter:
    """The counted pairs of one head at one stage: permitted, of queries with two keys or more."""

    queries: Indices  # positions, (pair,) as all of these, query by query
    keys: Indices
    scores: Floats  # before softmax, the same at every stage
    distances: Floats  # of the query to the key in full space
    attention: Floats
    x: Floats  # the scores as drawn: less the mean of their row, or unchanged
    y: Floats  # the distances likewise
    strongest: Bools  # whether the key is the one that its query attends to most
    line: FittedLine | None  # y by x; None where scores do not vary
    correlation: float  # of y with x; NaN where either does not vary
    left_out: int  # how many queries see one key only

    def find(self, query: int, key: int) -> int | None:
        """The index of this pair; None when it does not count."""
        indices = np.flatnonzero((self.queries == query) & (self.keys == key))
        return int(indices[0]) if indices.size else None


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
    distance: Metric = "euclidean",
    target: TargetKind = "centred",
) -> PairScatter:
    """Every counted pair of one head; `vectors` are its queries and keys at some stage."""
    goal = head_target(trace, layer, head, target)
    rows = goal.rows
    scores = rows.select(exact_scores(trace, layer, head))
    distances = rows.select(distances_between(*vectors, distance))
    x, y = scores, distances
    if target != "raw":
        x, y = goal.values, less_mean(distances, rows, target)
    strongest = np.zeros(scores.size, dtype=np.bool_)
    strongest[goal.strongest[0]] = True
    return PairScatter(
        queries=rows.spread(rows.queries),
        keys=rows.keys,
        scores=scores,
        distances=distances,
        attention=rows.select(trace.attention(layer, head).astype(np.float64)),
        x=x,
        y=y,
        strongest=strongest,
        line=fit_line(x, y),
        correlation=compare(goal, distances).correlation,
        left_out=len(trace.tokens) - rows.queries.size,
    )


def density_of(scatter: PairScatter) -> Density:
    """How many pairs lie in each of equal cells."""
    counts, x_edges, y_edges = np.histogram2d(scatter.x, scatter.y, bins=_BINS)
    return Density(counts.T, x_edges, y_edges)
