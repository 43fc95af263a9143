"""What is chosen and measured of every head once all parts are summed: all but the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import in_threads, sample_indices
from core.analysis.query_key.correlation import correlations, pair_table
from core.analysis.query_key.faithfulness import Faithfulness, uniform_baseline
from core.analysis.query_key.scaling import C_VALUES, best_c
from core.atlas.blocks import CorpusPairs
from core.atlas.data import AtlasFacts, HeadFigures, Measured, ModelFaithfulness, values_of
from core.atlas.engine.sample import Sample
from core.atlas.engine.sums import Sums
from core.atlas.points import Plane, find_planes, place
from core.vocabulary import STAGES, Stage

SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadConstants(HeadFigures):
    """Of every head: where its vectors are put, and what is measured on the sample of pairs."""

    all_planes: tuple[Mapping[Stage, Plane], ...]  # layer after layer

    def planes(self, layer: int, head: int) -> Mapping[Stage, Plane]:
        """Where the vectors of one head are put at each stage."""
        return self.all_planes[layer * self.c.shape[1] + head]


def facts_of_sums(
    sums: Sums, constants: HeadConstants, settings: Mapping[str, str | int], *, labelled: bool
) -> AtlasFacts:
    """The facts of the atlas of a corpus; `settings` are stored beside what was cut."""
    # Characters are said only where some were cut.
    characters = {"characters_cut": sums.cut_characters} if sums.cut_characters else {}
    return AtlasFacts(
        **values_of(HeadFigures, constants),
        model=sums.model,
        causal=sums.causal,
        tokens=sums.tokens,
        sentences=sums.sentences,
        labelled=labelled,
        settings={"tokens_cut": sums.dropped, **characters, **settings},
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
    )


class _Head(NamedTuple):
    """One head, and what its plane keeps at each stage."""

    planes: dict[Stage, Plane]
    c: float
    kept: dict[Stage, Faithfulness]
    baseline: float


def find_constants(sums: Sums, sample: Sample) -> HeadConstants:
    """The constants of every head of a model, on all processors.

    Centroids and components are of all tokens that were summed; c and faithfulness of the sample's
    pairs.
    """
    layers, heads, _ = sums.shape
    pairs = sample.pairs(causal=sums.causal)

    def one(head: tuple[int, ...]) -> _Head:
        return _measure_head(sums, sample, pairs, (head[0], head[1]))

    measured = in_threads(one, np.ndindex(layers, heads))
    return _join(measured, layers, pairs)


def _measure_head(sums: Sums, sample: Sample, pairs: CorpusPairs, head: tuple[int, int]) -> _Head:
    """Choose one head's constants, and measure what is kept of its attention."""
    queries, keys = sample.of_head(*head)
    layer, kv_head = head[0], head[1] * sums.keys.mean.shape[1] // sums.queries.mean.shape[1]
    means = sums.queries.mean[head], sums.keys.mean[layer, kv_head]
    covariances = (
        sums.queries.scatter[head] / sums.queries.count,
        sums.keys.scatter[layer, kv_head] / sums.keys.count,
    )
    target = pairs.target(queries, keys, head, sums.rules[layer])
    chosen = sample_indices(target.values.size, SCALING_PAIRS)  # for c; the rest is of all pairs
    table = pair_table(queries, keys + (means[0] - means[1]), target, chosen)
    curve = correlations(table, C_VALUES, "euclidean", "pearson").values
    c = best_c(table, "euclidean", "pearson", curve)
    planes = find_planes(means, covariances, c)
    kept = {}
    for stage, points in place(queries, keys, planes).items():
        own, others = np.split(points[:, :2].astype(np.float64), 2)
        kept[stage] = pairs.faithfulness(own, others, head, target)
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
    """One value a head, in order, as (layer, head, ...)."""
    stacked = np.stack(values)
    return stacked.reshape(layers, -1, *stacked.shape[1:])
