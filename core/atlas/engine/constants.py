"""What is chosen and measured for each head once all parts are summed, and the resulting points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, in_threads, sample_indices
from core.analysis.query_key.correlation import correlations, pair_table
from core.analysis.query_key.faithfulness import Faithfulness, uniform_baseline
from core.analysis.query_key.scaling import C_VALUES, best_c
from core.atlas.blocks import CorpusPairs
from core.atlas.data import (
    DIMENSIONS,
    SAMPLED,
    Atlas,
    CorpusTexts,
    CorpusTokens,
    Measured,
    ModelFaithfulness,
    ProjectedPart,
)
from core.atlas.engine.sums import Sums, VectorSample
from core.atlas.points import Plane, find_planes, place
from core.vocabulary import STAGES, Stage

SCALING_PAIRS = 16_384  # per head, to choose its c: r within 0.015


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadConstants:
    """For every head: where its vectors go, and what is measured on the sample of pairs.

    Except for `all_planes`, layer by layer, as in :class:`core.atlas.data.Atlas`.
    """

    all_planes: tuple[Mapping[Stage, Plane], ...]
    shares: Mapping[Stage, Floats]
    c: Floats
    faithfulness: Mapping[Stage, ModelFaithfulness]
    measured: Measured

    def planes(self, layer: int, head: int) -> Mapping[Stage, Plane]:
        """Where the vectors of one head are put at each stage."""
        return self.all_planes[layer * self.c.shape[1] + head]


def assemble(
    sums: Sums, constants: HeadConstants, texts: CorpusTexts, part: ProjectedPart
) -> Atlas:
    """The atlas of these sentences of a corpus, renumbered, with figures of the whole corpus."""
    places = np.searchsorted(texts.numbers, texts.tokens.sentence).astype(np.int32)
    # Cut characters are only given if there are any, corpus sizes only if this is a sample.
    characters = {"characters_cut": sums.cut_characters} if sums.cut_characters else {}
    whole = dict(zip(SAMPLED, (sums.tokens, sums.sentences), strict=True))
    sampled = whole if sums.sentences > len(texts.sentences) else {}
    return Atlas(
        model=sums.model,
        causal=sums.causal,
        tokens=replace(texts.tokens, sentence=places),
        sentences=texts.sentences,
        labels=texts.labels,
        points=part.points,
        norms=part.norms,
        shares=constants.shares,
        c=constants.c,
        faithfulness=constants.faithfulness,
        measured=constants.measured,
        settings={"tokens_cut": sums.dropped, **characters, **sampled},
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
    )


def project_part(
    tokens: CorpusTokens,
    vectors_of: Callable[[int, int], tuple[Floats, Floats]],
    constants: HeadConstants,
) -> ProjectedPart:
    """Where queries and keys of some sentences lie in the pictures of all heads.

    `vectors_of` returns those of a (layer, head), float64 (token, dim) each; it is called for one
    head at a time.
    """
    shape = (*constants.c.shape, 2 * len(tokens))
    points = {stage: np.empty((*shape, DIMENSIONS), dtype=np.float32) for stage in STAGES}
    norms = np.empty(shape, dtype=np.float32)
    for layer, head in np.ndindex(*constants.c.shape):
        queries, keys = vectors_of(layer, head)
        norms[layer, head] = np.linalg.norm(np.vstack([queries, keys]), axis=1)
        for stage, placed in place(queries, keys, constants.planes(layer, head)).items():
            points[stage][layer, head] = placed
    return ProjectedPart(tokens.sentence, tokens.position, points, norms)


class _Head(NamedTuple):
    """One head, and how faithful its plane is at each stage."""

    planes: dict[Stage, Plane]
    c: float
    kept: dict[Stage, Faithfulness]
    baseline: float


def find_constants(sums: Sums, sample: VectorSample) -> HeadConstants:
    """The constants of every head of a model, on all processors.

    Centroids and components are over all summed tokens; c and faithfulness over the pairs of the
    sample.
    """
    layers, heads, _ = sums.shape
    pairs = sample.pairs(causal=sums.causal)

    def one(head: tuple[int, ...]) -> _Head:
        return _measure_head(sums, sample, pairs, (head[0], head[1]))

    measured = in_threads(one, np.ndindex(layers, heads))
    return _join(measured, layers, pairs)


def _measure_head(
    sums: Sums, sample: VectorSample, pairs: CorpusPairs, head: tuple[int, int]
) -> _Head:
    """Choose one head's constants, and measure how faithful its planes are."""
    queries, keys = sample.of_head(*head)
    layer, kv_head = head[0], head[1] * sums.keys.mean.shape[1] // sums.queries.mean.shape[1]
    means = sums.queries.mean[head], sums.keys.mean[layer, kv_head]
    covariances = (
        sums.queries.scatter[head] / sums.queries.count,
        sums.keys.scatter[layer, kv_head] / sums.keys.count,
    )
    target = pairs.target(queries, keys, head, sums.rules[layer])
    chosen = sample_indices(target.values.size, SCALING_PAIRS)  # for c; the rest uses all pairs
    table = pair_table(queries, keys + (means[0] - means[1]), target, chosen)
    curve = correlations(table, C_VALUES, "euclidean", "pearson").values
    c = best_c(table, "euclidean", "pearson", curve)
    planes = find_planes(means, covariances, c)
    kept = {}
    for stage, points in place(queries, keys, planes).items():
        query_points, key_points = np.split(points[:, :2].astype(np.float64), 2)
        kept[stage] = pairs.faithfulness(query_points, key_points, head, target)
    return _Head(planes, c, kept, uniform_baseline(target.rows))


def _join(heads: Sequence[_Head], layers: int, pairs: CorpusPairs) -> HeadConstants:
    """The constants of all heads, in order, as maps."""
    return HeadConstants(
        all_planes=tuple(each.planes for each in heads),
        shares={
            stage: _by_layer([each.planes[stage].shares for each in heads], layers)
            for stage in STAGES
        },
        c=_by_layer([each.c for each in heads], layers),
        faithfulness={
            stage: ModelFaithfulness(
                _by_layer([each.kept[stage].correlation for each in heads], layers),
                _by_layer([each.kept[stage].top1 for each in heads], layers),
            )
            for stage in STAGES
        },
        measured=Measured(
            tokens=sum(block.tokens.size for block in pairs.blocks),
            top1=_by_layer([each.baseline for each in heads], layers),
        ),
    )


def _by_layer(values: Sequence[Any], layers: int) -> NDArray[Any]:
    """One value per head, in order, as (layer, head, ...)."""
    stacked = np.stack(values)
    return stacked.reshape(layers, -1, *stacked.shape[1:])
