"""One head's queries and keys as a picture: points, lines, and how faithful it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.normalization import GridSearch, normalize
from core.analysis.pairs import head_vectors
from core.analysis.projections.joint_embedding import Embedding, Metric, Projection, embed
from core.analysis.query_key.correlation import Distance, distances_between
from core.analysis.query_key.faithfulness import (
    MIN_CHANGE,
    Faithfulness,
    compare_matrix,
    head_target,
)
from core.analysis.query_key.scaling import HeadScaling
from core.analysis.vectors import align_planes
from core.model.trace import Trace
from core.vocabulary import STAGES, HeadStage, Stage


class Vectors(NamedTuple):
    """Queries and keys of one head at one stage, float64 (token, dim) each."""

    queries: Floats
    keys: Floats


@dataclass(frozen=True, eq=False)
class Cloud:
    """One head at one stage, projected, and how faithful the projection is."""

    stage: HeadStage
    picture: Embedding  # where queries and keys lie
    apart_in_picture: float  # mean Euclidean distance of each query to the key it attends to most
    apart_in_full: float  # the same in full space, by the chosen distance
    in_picture: Faithfulness
    in_full: Faithfulness


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines from queries to keys, strongest last."""

    queries: Indices  # positions, (line,)
    keys: Indices
    weights: Floats  # attention
    strongest: Bools  # whether it goes to the query's strongest key of all; of equals, the first

    @property
    def table(self) -> Floats:
        """Query, key, attention, and 1 for a query's strongest, (line, 4)."""
        return np.column_stack([self.queries, self.keys, self.weights, self.strongest])

    def red(self, sources: Sequence[int], targets: Sequence[int]) -> Bools:
        """Which lines go from one of these queries to its strongest key, if that is a target.

        The red lines of AttentionViz (Yeh et al. 2023), (line,).
        """
        chosen = np.isin(self.queries, sources) & np.isin(self.keys, targets)
        return np.asarray(chosen & self.strongest)


def stage_vectors(
    trace: Trace,
    layer: int,
    head: int,
    scaling: HeadScaling,
    search: GridSearch | None = None,
) -> dict[HeadStage, Vectors]:
    """A head's queries and keys at every stage; "searched" only if `search` found an a and a c."""
    queries, keys = head_vectors(trace, layer, head)
    vectors: dict[HeadStage, Vectors] = {
        "raw": Vectors(queries, keys),
        "translated": Vectors(*normalize(queries, keys, scaling.a, 1.0)),
        "normalized": Vectors(*normalize(queries, keys, scaling.a, scaling.c)),
    }
    if search is not None and search.defined:
        vectors["searched"] = Vectors(*normalize(queries, keys, search.a, search.c))
    return vectors


def best_stage(scaling: HeadScaling) -> Stage:
    """The stage whose distances, in full space, correlate most negatively with the head's target.

    Among stages within ``MIN_CHANGE`` of the best, the one where the nearest key is most often the
    one attended to most; "raw" if no correlation is defined.
    """
    measured = {stage: getattr(scaling.faithfulness, stage) for stage in STAGES}
    defined = {stage: each for stage, each in measured.items() if np.isfinite(each.correlation)}
    if not defined:
        return "raw"
    lowest = min(each.correlation for each in defined.values())
    near = [stage for stage, each in defined.items() if each.correlation < lowest + MIN_CHANGE]
    return max(near, key=lambda stage: (measured[stage].top1, -measured[stage].correlation))


def head_clouds(
    trace: Trace,
    layer: int,
    head: int,
    scaling: HeadScaling,
    *,
    search: GridSearch | None = None,
    stages: Sequence[HeadStage] = STAGES,
    projection: Projection = "PCA",
    dimensions: int = 2,
    distance: Distance = "euclidean",
) -> list[Cloud]:
    """One cloud per stage, each aligned with the one before, which changes no distance.

    The stage "searched" needs a `search` of the layer that found an a and a c.
    """
    vectors = stage_vectors(trace, layer, head, scaling, search)
    metric: Metric = "cosine" if distance == "cosine" else "euclidean"
    pictures = [
        embed(*vectors[stage], projection, dimensions=dimensions, metric=metric) for stage in stages
    ]
    aligned = align_planes(np.stack([np.vstack([each.queries, each.keys]) for each in pictures]))
    goal = head_target(trace, layer, head)
    strongest = trace.attention(layer, head).argmax(axis=1)
    to_strongest = np.arange(strongest.size), strongest
    clouds = []
    for stage, embedding, points in zip(stages, pictures, aligned, strict=True):
        queries, keys = np.split(points, [len(embedding.queries)])
        in_plane = distances_between(queries, keys)
        in_full = distances_between(*vectors[stage], distance)
        clouds.append(
            Cloud(
                stage=stage,
                picture=replace(embedding, queries=queries, keys=keys),
                apart_in_picture=float(in_plane[to_strongest].mean()),
                apart_in_full=float(in_full[to_strongest].mean()),
                in_picture=compare_matrix(goal, in_plane),
                in_full=compare_matrix(goal, in_full),
            )
        )
    return clouds


def strongest_lines(
    attention: Floats,
    count: int = 1,
    sources: Sequence[int] = (),
    targets: Sequence[int] = (),
) -> Lines:
    """Lines from each query to the `count` keys it attends to most, and from sources to targets.

    `attention` is (token, token). Ties go to the first key; chosen pairs (positions) get a line
    however weak, but pairs without any attention get none.
    """
    has_line = np.zeros(attention.shape, dtype=np.bool_)
    ranked = np.argsort(-attention, axis=1, kind="stable")[:, :count]
    np.put_along_axis(has_line, ranked, values=True, axis=1)
    has_line[np.ix_(list(sources), list(targets))] = True
    queries, keys = np.nonzero(has_line & (attention > 0))
    order = np.argsort(attention[queries, keys], kind="stable")
    queries, keys = queries[order], keys[order]
    strongest = keys == attention.argmax(axis=1)[queries]
    return Lines(queries, keys, attention[queries, keys], strongest)
