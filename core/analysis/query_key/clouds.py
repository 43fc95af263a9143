"""What a picture of one head's queries and keys shows: points, lines, and its own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.normalization import normalize
from core.analysis.pair_projection import default_pair
from core.analysis.projections.joint_embedding import Embedding, embed
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import (
    Faithfulness,
    compare_matrix,
    faithfulness,
    plane_distances,
)
from core.analysis.query_key.target import head_target
from core.analysis.vectors import align_planes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric, Projection
    from core.analysis.query_key.faithfulness import Reading
    from core.analysis.query_key.scaling import HeadScaling
    from core.analysis.query_key.target import Target, TargetKind
    from core.model.trace import Trace

    Floats = NDArray[np.float64]

Stage = Literal["raw", "translated", "normalized"]
STAGES: tuple[Stage, ...] = ("raw", "translated", "normalized")
# Of one text, where a whole layer is at hand: also as the notebook's search normalizes it.
HeadStage = Literal["raw", "translated", "normalized", "searched"]
HEAD_STAGES: tuple[HeadStage, ...] = (*STAGES, "searched")
MAX_LINES = 20_000  # of one picture; beyond it the strongest are drawn
_CHOSEN = ((("brown",), ("capybara",)),)  # the source and target words of known sentences


@dataclass(frozen=True, eq=False)
class Vectors:
    """Queries and keys of one head at one stage, float64 (token, dim) each."""

    queries: Floats
    keys: Floats

    @property
    def norms(self) -> Floats:
        """Length of every query, then of every key, (2 token,)."""
        return np.linalg.norm(np.vstack([self.queries, self.keys]), axis=1)


@dataclass(frozen=True, eq=False)
class Cloud:
    """One head at one stage, projected, with what the projection keeps.

    Attributes
    ----------
    picture : where queries and keys lie.
    norms : lengths of the vectors before projection, (2 token,), queries first.
    apart_in_picture, apart_in_full : mean distance of each query to the key it attends to most; in
        the picture Euclidean, as the notebook titles its pictures.
    in_picture, in_full : what distances in the picture and in full space keep of attention; for a
        biplot, what its inner products keep.
    """

    stage: HeadStage
    picture: Embedding
    norms: Floats
    apart_in_picture: float
    apart_in_full: float
    in_picture: Faithfulness
    in_full: Faithfulness


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines from queries to keys, strongest last.

    Attributes
    ----------
    queries, keys : positions, (line,).
    weights : attention, (line,).
    left_out : how many more there would have been.
    """

    queries: NDArray[np.intp]
    keys: NDArray[np.intp]
    weights: Floats
    left_out: int = 0

    @property
    def strongest(self) -> NDArray[np.bool_]:
        """Which line is its query's strongest, (line,)."""
        found = np.zeros(self.queries.size, dtype=np.bool_)
        _, from_the_end = np.unique(self.queries[::-1], return_index=True)
        found[self.queries.size - 1 - from_the_end] = True
        return found

    def between(self, sources: Sequence[int], targets: Sequence[int]) -> NDArray[np.bool_]:
        """Which lines lead from one of these queries to one of these keys, (line,)."""
        chosen = np.isin(self.queries, list(sources)) & np.isin(self.keys, list(targets))
        return np.asarray(chosen)


def stage_vectors(
    trace: Trace,
    layer: int,
    head: int,
    scaling: HeadScaling,
    search: GridSearch | None = None,
) -> dict[HeadStage, Vectors]:
    """The head's own queries and keys, the translated, and the translated and scaled.

    With a `search` that found an a and a c for the layer, also as these normalize them.
    """
    queries = trace.queries[layer, head].astype(np.float64)
    keys = trace.kv_keys[layer, head // trace.group].astype(np.float64)
    vectors: dict[HeadStage, Vectors] = {
        "raw": Vectors(queries, keys),
        "translated": Vectors(*normalize(queries, keys, scaling.a, 1.0)),
        "normalized": Vectors(*normalize(queries, keys, scaling.a, scaling.c)),
    }
    if search is not None and search.defined:
        vectors["searched"] = Vectors(*normalize(queries, keys, search.a, search.c))
    return vectors


def head_stages(search: GridSearch) -> tuple[HeadStage, ...]:
    """The stages there are: "searched" only where the search found an a and a c."""
    return HEAD_STAGES if search.defined else STAGES


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
    metric: Metric = "euclidean",
    target: TargetKind = "centred",
) -> list[Cloud]:
    """One cloud a stage; each is turned onto the one before, which changes no distance.

    `search` is that of the layer; the stage "searched" needs one that found an a and a c.

    A biplot is the same at every stage, since it takes the mean from each row of dot products: it
    gives one cloud.
    """
    vectors = stage_vectors(trace, layer, head, scaling, search)
    wanted: Sequence[HeadStage] = ("raw",) if projection == "biplot" else stages
    pictures = _aligned(
        [
            embed(
                vectors[stage].queries,
                vectors[stage].keys,
                projection,
                dimensions=dimensions,
                metric=metric,
            )
            for stage in wanted
        ]
    )
    goal = head_target(trace, layer, head, target)
    strongest = trace.attention(layer, head).argmax(axis=1)
    return [
        _measured(stage, vectors[stage], picture, goal, strongest, metric, projection)
        for stage, picture in zip(wanted, pictures, strict=True)
    ]


def strongest_lines(attention: Floats, count: int = 1) -> Lines:
    """Each query to the `count` keys it attends to most; `attention` is (token, token).

    Of keys with the same attention the first is taken; keys without any get no line.
    """
    ranked = np.argsort(-attention, axis=1, kind="stable")[:, :count]
    keys, queries = ranked.ravel(), np.repeat(np.arange(len(attention)), ranked.shape[1])
    weights = attention[queries, keys]
    some = weights > 0
    return _sorted_lines(queries[some], keys[some], weights[some])


def lines_above(attention: Floats, threshold: float) -> Lines:
    """All pairs with at least this attention, at most ``MAX_LINES`` of them."""
    queries, keys = np.nonzero(attention >= threshold)
    return _sorted_lines(queries, keys, attention[queries, keys])


def with_chosen(
    lines: Lines, attention: Floats, sources: Sequence[int], targets: Sequence[int]
) -> Lines:
    """`lines` and, where they lack them, those from the sources to the targets, however weak.

    `attention` is (token, token), `sources` and `targets` are positions. A pair that may not
    attend, so that its attention is zero, gets no line.
    """
    wanted = np.zeros(attention.shape, dtype=np.bool_)
    wanted[np.ix_(list(sources), list(targets))] = True
    wanted &= attention > 0
    wanted[lines.queries, lines.keys] = False
    queries, keys = np.nonzero(wanted)
    if not queries.size:
        return lines
    together = _sorted_lines(
        np.concatenate([lines.queries, queries]),
        np.concatenate([lines.keys, keys]),
        np.concatenate([lines.weights, attention[queries, keys]]),
    )
    return replace(together, left_out=lines.left_out + together.left_out)


def default_chosen(trace: Trace) -> tuple[list[int], list[int]]:
    """Which source and target tokens to begin with, as positions; empty where there are none.

    In the project's own capybara sentence "brown" and the pieces of "capybara"; else the pair of
    the projection page, with all pieces of their words.
    """
    words: dict[int, list[int]] = {}
    for token in trace.tokens:
        if not token.special:
            words.setdefault(token.word, []).append(token.position)
    texts = [token.text.strip("Ġ▁").removeprefix("##").casefold() for token in trace.tokens]
    named = {"".join(texts[i] for i in pieces): pieces for pieces in words.values()}
    for sources, targets in _CHOSEN:
        if {*sources, *targets} <= set(named):
            return [i for word in sources for i in named[word]], [
                i for word in targets for i in named[word]
            ]
    pair = default_pair(trace)
    if pair is None:
        return [], []
    source, target = (words[trace.tokens[position].word] for position in pair)
    return list(source), list(target)


def _aligned(pictures: list[Embedding]) -> list[Embedding]:
    both = np.stack([np.vstack([each.queries, each.keys]) for each in pictures])
    size = both.shape[1] // 2
    return [
        replace(picture, queries=points[:size], keys=points[size:])
        for picture, points in zip(pictures, align_planes(both), strict=True)
    ]


def _measured(
    stage: HeadStage,
    vectors: Vectors,
    picture: Embedding,
    goal: Target,
    strongest: NDArray[np.intp],
    metric: Metric,
    projection: Projection,
) -> Cloud:
    queries = np.arange(len(strongest))
    full = distances_between(vectors.queries, vectors.keys, metric)
    reading: Reading = "inner product" if projection == "biplot" else "distance"
    return Cloud(
        stage=stage,
        picture=picture,
        norms=vectors.norms,
        apart_in_picture=float(plane_distances(picture)[queries, strongest].mean()),
        apart_in_full=float(full[queries, strongest].mean()),
        in_picture=faithfulness(goal, picture, reading),
        in_full=compare_matrix(goal, full),
    )


def _sorted_lines(queries: NDArray[np.intp], keys: NDArray[np.intp], weights: Floats) -> Lines:
    order = np.argsort(weights, kind="stable")
    kept = order[-MAX_LINES:]
    return Lines(queries[kept], keys[kept], weights[kept], order.size - kept.size)
