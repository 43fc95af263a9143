"""What is chosen and measured of every head once all parts are summed: all but the points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, sample_indices
from core.analysis.normalization import normalize
from core.analysis.query_key.faithfulness import Baseline, Faithfulness, uniform_baseline
from core.analysis.query_key.scaling import (
    HeadScaling,
    ModelScaling,
    collect_scalings,
    every_head,
    scale_vectors,
)
from core.atlas.blocks import CorpusPairs
from core.atlas.data import METRICS, AtlasFacts, Kept, Measured, ModelFaithfulness
from core.atlas.engine.sample import Sample
from core.atlas.engine.sums import Sums
from core.atlas.points import Plane, find_planes, place
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric

    ByStage = dict[Stage, Faithfulness]

_MOVED: tuple[Stage, ...] = ("raw", "translated")
SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


@dataclass(frozen=True, eq=False)
class HeadConstants:
    """Of every head: where its vectors are put, and what is measured on the sample of pairs.

    The figures are those of :class:`core.atlas.Atlas`.
    """

    all_planes: tuple[Mapping[Stage, Plane], ...]  # layer after layer
    scaling: ModelScaling
    faithfulness: Mapping[Stage, ModelFaithfulness]
    full: Mapping[Metric, Mapping[Stage, ModelFaithfulness]]
    measured: Measured
    raw_scores: Kept

    @property
    def c(self) -> Floats:
        """(layer, head)."""
        return self.scaling.c

    @property
    def shares(self) -> dict[Stage, Floats]:
        """Of the variance, by component, (layer, head, 3)."""
        layers = len(self.c)
        return {
            stage: _by_layer([planes[stage].shares for planes in self.all_planes], layers)
            for stage in STAGES
        }

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
        model=sums.model,
        causal=sums.causal,
        tokens=sums.tokens,
        sentences=sums.sentences,
        labelled=labelled,
        shares=constants.shares,
        scaling=constants.scaling,
        faithfulness=constants.faithfulness,
        full=constants.full,
        measured=constants.measured,
        distances=sums.distances,
        positions=sums.positions,
        settings={"tokens_cut": sums.dropped, **characters, **settings},
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
        raw_scores=constants.raw_scores,
    )


class _Pictures(NamedTuple):
    """Faithfulness of one head's pictures."""

    plane: ByStage
    full: dict[Metric, ByStage]


class _Head(NamedTuple):
    """One head; what its pictures keep of row-centred scores, and of raw ones."""

    planes: dict[Stage, Plane]
    scaling: HeadScaling
    centred: _Pictures
    raw: _Pictures
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
    return HeadConstants(tuple(each.planes for each in measured), **_join(measured, layers, pairs))


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

    def measure(own: Floats, others: Floats, metric: Metric = "euclidean") -> Faithfulness:
        return pairs.faithfulness(own, others, head, target, metric)

    chosen = sample_indices(target.values.size, SCALING_PAIRS)  # for c; the rest is of all pairs
    a = means[0] - means[1]
    scaling = scale_vectors(queries, keys, target, chosen, measure, a=a)
    planes = find_planes(means, covariances, scaling.c)
    points = place(queries, keys, planes)
    flat = {stage: np.split(points[stage][:, :2].astype(np.float64), 2) for stage in STAGES}
    full = {
        "raw": (queries, keys),
        "translated": (queries, keys + a),
        "normalized": normalize(queries, keys, a, scaling.c),
    }
    centred = _Pictures(
        plane={stage: measure(flat[stage][0], flat[stage][1]) for stage in STAGES},
        full={
            "euclidean": dict(zip(STAGES, scaling.faithfulness, strict=True)),
            "cosine": _cosines({stage: measure(*full[stage], "cosine") for stage in _MOVED}),
        },
    )
    unchanged = pairs.target(queries, keys, head, sums.rules[layer], "raw")

    def again(vectors: Sequence[Floats], known: Faithfulness, metric: Metric) -> Faithfulness:
        own, others = vectors
        shares = known.top1, known.top3
        return pairs.faithfulness(own, others, head, unchanged, metric, shares)

    raw = _Pictures(
        plane={s: again(flat[s], known, "euclidean") for s, known in centred.plane.items()},
        full={
            "euclidean": {
                s: again(full[s], known, "euclidean")
                for s, known in centred.full["euclidean"].items()
            },
            "cosine": _cosines(
                {s: again(full[s], centred.full["cosine"][s], "cosine") for s in _MOVED}
            ),
        },
    )
    return _Head(planes, scaling, centred, raw, baseline=uniform_baseline(target.rows))


def _cosines(moved: Mapping[Stage, Faithfulness]) -> ByStage:
    """Of every stage: cosine distance is the same for every c."""
    return {**moved, "normalized": moved["translated"]}


def _join(heads: Sequence[_Head], layers: int, pairs: CorpusPairs) -> dict[str, Any]:
    """The figures of all heads, in order, as maps."""

    def joined(results: Sequence[Faithfulness]) -> ModelFaithfulness:
        names = ("correlation", "top1", "top3", "low", "high")
        return ModelFaithfulness(
            **{name: _by_layer([getattr(one, name) for one in results], layers) for name in names},
            per_sentence=_by_layer([one.per_text for one in results], layers),
        )

    def kept(pictures: Sequence[_Pictures]) -> Kept:
        return Kept(
            plane={stage: joined([each.plane[stage] for each in pictures]) for stage in STAGES},
            full={
                metric: {
                    stage: joined([each.full[metric][stage] for each in pictures])
                    for stage in STAGES
                }
                for metric in METRICS
            },
        )

    centred = kept([each.centred for each in heads])
    return {
        "scaling": collect_scalings([each.scaling for each in heads], layers),
        "faithfulness": centred.plane,
        "full": centred.full,
        "raw_scores": kept([each.raw for each in heads]),
        "measured": Measured(
            tokens=sum(block.tokens.size for block in pairs.blocks),
            sentences=sum(len(block.tokens) for block in pairs.blocks),
            pairs=_by_layer([each.centred.plane["raw"].pairs for each in heads], layers),
            top1=_by_layer([each.baseline.top1 for each in heads], layers),
            top3=_by_layer([each.baseline.top3 for each in heads], layers),
        ),
    }


def _by_layer(values: Sequence[Any], layers: int) -> NDArray[Any]:
    """One value a head, in order, as (layer, head, ...)."""
    stacked = np.stack(values)
    return stacked.reshape(layers, -1, *stacked.shape[1:])
