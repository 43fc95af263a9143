"""What is chosen and measured of every head once all parts are summed: all but the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.analysis.atlas.data import METRICS, AtlasFacts, Measured, ModelFaithfulness
from core.analysis.atlas.points import Plane, find_planes, place
from core.analysis.query_key.clouds import STAGES
from core.analysis.query_key.correlation import sample_indices
from core.analysis.query_key.faithfulness import Baseline, uniform_baseline
from core.analysis.query_key.scaling import collect_scalings, every_head, scale_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.arrays import Floats
    from core.analysis.atlas.blocks import CorpusPairs
    from core.analysis.atlas.engine.sample import Sample
    from core.analysis.atlas.engine.sums import Sums
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import HeadScaling, ModelScaling

    ByStage = dict[Stage, Faithfulness]

SCALING_PAIRS = 16_384  # of a head, to choose its c: r within 0.015


@dataclass(frozen=True, eq=False)
class HeadConstants:
    """Of every head: where its vectors are put, and what is measured on the sample of pairs.

    The figures are those of :class:`core.analysis.atlas.Atlas`.
    """

    all_planes: tuple[Mapping[Stage, Plane], ...]  # layer after layer
    scaling: ModelScaling
    faithfulness: Mapping[Stage, ModelFaithfulness]
    full: Mapping[Metric, Mapping[Stage, ModelFaithfulness]]
    measured: Measured

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
        settings={**cut_settings(sums), **settings},
        layer_numbers=sums.layer_numbers,
        depth=sums.depth,
    )


def cut_settings(sums: Sums) -> dict[str, str | int]:
    """The settings that say how much of the texts was cut: characters only where there are any."""
    characters = {"characters_cut": sums.cut_characters} if sums.cut_characters else {}
    return {"tokens_cut": sums.dropped, **characters}


class _Head(NamedTuple):
    """One head; `plane` and `full` are faithfulness."""

    planes: dict[Stage, Plane]
    scaling: HeadScaling
    plane: ByStage
    full: dict[Metric, ByStage]
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
    flat = {stage: points[stage][:, :2].astype(np.float64) for stage in STAGES}
    raw, translated = (measure(queries, keys + shift, "cosine") for shift in (0, a))
    return _Head(
        planes,
        scaling,
        plane={
            stage: measure(both[: len(queries)], both[len(queries) :])
            for stage, both in flat.items()
        },
        full={
            "euclidean": dict(zip(STAGES, scaling.faithfulness, strict=True)),
            # Cosine distance is the same for every c.
            "cosine": dict(zip(STAGES, (raw, translated, translated), strict=True)),
        },
        baseline=uniform_baseline(target.rows),
    )


def _join(heads: Sequence[_Head], layers: int, pairs: CorpusPairs) -> dict[str, Any]:
    """The figures of all heads, in order, as maps."""

    def joined(results: Sequence[Faithfulness]) -> ModelFaithfulness:
        names = ("correlation", "top1", "top3", "low", "high")
        return ModelFaithfulness(
            **{name: _by_layer([getattr(one, name) for one in results], layers) for name in names},
            per_sentence=_by_layer([one.per_text for one in results], layers),
        )

    return {
        "scaling": collect_scalings([each.scaling for each in heads], layers),
        "faithfulness": {stage: joined([each.plane[stage] for each in heads]) for stage in STAGES},
        "full": {
            metric: {
                stage: joined([each.full[metric][stage] for each in heads]) for stage in STAGES
            }
            for metric in METRICS
        },
        "measured": Measured(
            tokens=sum(block.tokens.size for block in pairs.blocks),
            sentences=sum(len(block.tokens) for block in pairs.blocks),
            pairs=_by_layer([each.plane["raw"].pairs for each in heads], layers),
            top1=_by_layer([each.baseline.top1 for each in heads], layers),
            top3=_by_layer([each.baseline.top3 for each in heads], layers),
        ),
    }


def _by_layer(values: Sequence[Any], layers: int) -> NDArray[Any]:
    """One value a head, in order, as (layer, head, ...)."""
    stacked = np.stack(values)
    return stacked.reshape(layers, -1, *stacked.shape[1:])
