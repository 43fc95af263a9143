"""What is chosen and measured of every head once all parts are summed: all but the points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, sample_indices
from core.analysis.normalization import normalize
from core.analysis.query_key.faithfulness import Baseline, Faithfulness, uniform_baseline
from core.analysis.query_key.scaling import (
    HeadScaling,
    collect_scalings,
    every_head,
    scale_vectors,
)
from core.atlas.blocks import CorpusPairs
from core.atlas.data import (
    METRICS,
    AtlasFacts,
    HeadFigures,
    Kept,
    Measured,
    ModelFaithfulness,
    values_of,
)
from core.atlas.engine.sample import Sample
from core.atlas.engine.sums import Sums
from core.atlas.points import Plane, find_planes, place
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.target import Target

    Picture = Literal["plane"] | Metric  # the plane, or full space with one distance
    Pictures = dict[tuple[Picture, Stage], Faithfulness]

SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadConstants(HeadFigures):
    """Of every head: where its vectors are put, and what is measured on the sample of pairs."""

    all_planes: tuple[Mapping[Stage, Plane], ...]  # layer after layer

    @property
    def c(self) -> Floats:
        """(layer, head)."""
        return self.scaling.c

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
        distances=sums.distances,
        positions=sums.positions,
        settings={"tokens_cut": sums.dropped, **characters, **settings},
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
    )


class _Head(NamedTuple):
    """One head; what its pictures keep of row-centred scores, and of raw ones."""

    planes: dict[Stage, Plane]
    scaling: HeadScaling
    centred: Pictures
    raw: Pictures
    baseline: Baseline


def find_constants(
    sums: Sums, sample: Sample, before_head: Callable[[int, int], object] | None = None
) -> HeadConstants:
    """The constants of every head of a model, on all processors, a few heads in memory at a time.

    Centroids and components are of all tokens that were summed; c and faithfulness of the sample's
    pairs. `before_head` is called in the working threads, before each head, with how many have
    begun and how many there are; it may let other work go first.
    """
    layers, heads, _ = sums.shape
    pairs = sample.pairs(causal=sums.causal)

    def one(layer: int, head: int) -> _Head:
        if before_head is not None:
            before_head(layer * heads + head, layers * heads)
        return _measure_head(sums, sample, pairs, (layer, head))

    measured = list(every_head(layers, heads, one))
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

    def measure(own: Floats, others: Floats) -> Faithfulness:
        return pairs.faithfulness(own, others, head, target)

    chosen = sample_indices(target.values.size, SCALING_PAIRS)  # for c; the rest is of all pairs
    a = means[0] - means[1]
    scaling = scale_vectors(queries, keys, target, chosen, measure, a=a)
    planes = find_planes(means, covariances, scaling.c)
    points = place(queries, keys, planes)
    full = {
        "raw": (queries, keys),
        "translated": (queries, keys + a),
        "normalized": normalize(queries, keys, a, scaling.c),
    }
    vectors: dict[tuple[Picture, Stage], Sequence[Floats]] = {}
    for stage in STAGES:
        vectors["plane", stage] = np.split(points[stage][:, :2].astype(np.float64), 2)
        vectors["euclidean", stage] = full[stage]
        if stage != "normalized":  # cosine distance is the same for every c
            vectors["cosine", stage] = full[stage]
    in_full_space: Pictures = {
        ("euclidean", stage): known
        for stage, known in zip(STAGES, scaling.faithfulness, strict=True)
    }
    centred = _compared(pairs, vectors, head, target, measured=in_full_space)
    unchanged = pairs.target(queries, keys, head, sums.rules[layer], "raw")
    raw = _compared(pairs, vectors, head, unchanged, shares_of=centred)
    return _Head(planes, scaling, centred, raw, baseline=uniform_baseline(target.rows))


def _compared(
    pairs: CorpusPairs,
    vectors: Mapping[tuple[Picture, Stage], Sequence[Floats]],
    head: tuple[int, int],
    target: Target,
    measured: Pictures | None = None,
    shares_of: Pictures | None = None,
) -> Pictures:
    """What every picture of a head keeps of the target.

    Those that were `measured` already are taken as they are; shares that are known from another
    kind of target, which does not change them, are not counted again.
    """
    pictures = dict(measured or {})
    for picture, stage in [each for each in vectors if each not in pictures]:
        own, others = vectors[picture, stage]
        known = shares_of and shares_of[picture, stage]
        shares = (known.top1, known.top3) if known else None
        metric: Metric = "cosine" if picture == "cosine" else "euclidean"
        pictures[picture, stage] = pairs.faithfulness(own, others, head, target, metric, shares)
    pictures["cosine", "normalized"] = pictures["cosine", "translated"]
    return pictures


def _join(heads: Sequence[_Head], layers: int, pairs: CorpusPairs) -> HeadConstants:
    """The constants of all heads, in order, as maps."""

    def joined(pictures: Sequence[Pictures], picture: Picture) -> dict[Stage, ModelFaithfulness]:
        names = {name: name for name in ("correlation", "top1", "top3", "low", "high")}
        names["per_sentence"] = "per_text"
        by_stage = {}
        for stage in STAGES:
            own = [each[picture, stage] for each in pictures]
            figures = {
                name: _by_layer([getattr(one, figure) for one in own], layers)
                for name, figure in names.items()
            }
            by_stage[stage] = ModelFaithfulness(**figures)
        return by_stage

    def kept(pictures: Sequence[Pictures]) -> Kept:
        full = {metric: joined(pictures, metric) for metric in METRICS}
        return Kept(plane=joined(pictures, "plane"), full=full)

    centred = kept([each.centred for each in heads])
    return HeadConstants(
        all_planes=tuple(each.planes for each in heads),
        shares={
            stage: _by_layer([each.planes[stage].shares for each in heads], layers)
            for stage in STAGES
        },
        scaling=collect_scalings([each.scaling for each in heads], layers),
        faithfulness=centred.plane,
        full=centred.full,
        raw_scores=kept([each.raw for each in heads]),
        measured=Measured(
            tokens=sum(block.tokens.size for block in pairs.blocks),
            sentences=sum(len(block.tokens) for block in pairs.blocks),
            pairs=_by_layer([each.centred["plane", "raw"].pairs for each in heads], layers),
            top1=_by_layer([each.baseline.top1 for each in heads], layers),
            top3=_by_layer([each.baseline.top3 for each in heads], layers),
        ),
    )


def _by_layer(values: Sequence[Any], layers: int) -> NDArray[Any]:
    """One value a head, in order, as (layer, head, ...)."""
    stacked = np.stack(values)
    return stacked.reshape(layers, -1, *stacked.shape[1:])
