"""The arrays about faithfulness in an atlas's file, written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.analysis.atlas.data import METRICS, Measured, ModelFaithfulness
from core.analysis.atlas.files.errors import AtlasFileError
from core.analysis.query_key.clouds import STAGES
from core.analysis.query_key.scaling import ModelScaling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from core.analysis.atlas.data import AtlasFacts
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage

    Arrays = Mapping[str, NDArray[Any]]
    Spec = dict[str, tuple[tuple[int, ...], str]]

_CONSTANTS = {"c": "float64", "on_edge": "bool", "few": "bool"}
_CORRELATIONS = ("correlation", "low", "high", "per_sentence")
_SHARES = ("top1", "top3")
_FIGURES = (*_CORRELATIONS, *_SHARES)  # the last axis of an array
_ROUNDING = 1e-9  # of correlations and shares


class StoredFaithfulness(NamedTuple):
    """The fields of an atlas that this module reads."""

    scaling: ModelScaling
    faithfulness: dict[Stage, ModelFaithfulness]
    full: dict[Metric, dict[Stage, ModelFaithfulness]]
    measured: Measured


def faithfulness_arrays(facts: AtlasFacts) -> dict[str, NDArray[np.generic]]:
    """The arrays by their names in the file."""
    return {
        **{f"scaling.{name}": getattr(facts.scaling, name) for name in _CONSTANTS},
        **{f"plane.{stage}": _stacked(facts.faithfulness[stage]) for stage in STAGES},
        **{
            f"full.{metric}.{stage}": _stacked(facts.full[metric][stage])
            for metric in METRICS
            for stage in STAGES
        },
        "measured.pairs": facts.measured.pairs,
        **{f"measured.{name}": getattr(facts.measured, name) for name in _SHARES},
    }


def expected_faithfulness(layers: int, heads: int) -> Spec:
    """Shape and type of each array."""
    each = (layers, heads)
    figures = ((*each, len(_FIGURES)), "float64")
    return {
        **{f"scaling.{name}": (each, kind) for name, kind in _CONSTANTS.items()},
        **{f"plane.{stage}": figures for stage in STAGES},
        **{f"full.{metric}.{stage}": figures for metric in METRICS for stage in STAGES},
        "measured.pairs": (each, "int64"),
        **{f"measured.{name}": (each, "float64") for name in _SHARES},
    }


def read_faithfulness(arrays: Arrays, counted: tuple[int, int]) -> StoredFaithfulness:
    """The fields of an atlas; NaN is what is not defined, or was not measured.

    `counted` is the number of tokens and of sentences that faithfulness was measured on. Raises
    `AtlasFileError` when a number is impossible.
    """
    plane = {stage: _read(f"plane.{stage}", arrays) for stage in STAGES}
    full = {
        metric: {stage: _read(f"full.{metric}.{stage}", arrays) for stage in STAGES}
        for metric in METRICS
    }
    for name in _SHARES:
        _check(f"measured.{name}", arrays[f"measured.{name}"], 0)
    if (arrays["measured.pairs"] < 0).any():
        raise AtlasFileError("“measured.pairs” has counts below zero.")
    top1, top3 = (arrays[f"measured.{name}"] for name in _SHARES)
    return _stored(arrays, plane, full, Measured(*counted, arrays["measured.pairs"], top1, top3))


def _stored(
    arrays: Arrays,
    plane: dict[Stage, ModelFaithfulness],
    full: dict[Metric, dict[Stage, ModelFaithfulness]],
    measured: Measured,
) -> StoredFaithfulness:
    euclidean = full["euclidean"]
    scaling = ModelScaling(
        raw=euclidean["raw"].correlation,
        translated=euclidean["translated"].correlation,
        normalized=euclidean["normalized"].correlation,
        c=arrays["scaling.c"],
        on_edge=arrays["scaling.on_edge"],
        few=arrays["scaling.few"],
        raw_top1=euclidean["raw"].top1,
        normalized_top1=euclidean["normalized"].top1,
    )
    return StoredFaithfulness(scaling, plane, full, measured)


def _stacked(faithfulness: ModelFaithfulness) -> NDArray[np.generic]:
    return np.stack([getattr(faithfulness, name) for name in _FIGURES], axis=-1)


def _read(name: str, arrays: Arrays) -> ModelFaithfulness:
    figures = {each: np.ascontiguousarray(arrays[name][..., i]) for i, each in enumerate(_FIGURES)}
    for each, values in figures.items():
        _check(f"{name}.{each}", values, 0 if each in _SHARES else -1)
    return ModelFaithfulness(**figures)


def _check(name: str, values: NDArray[Any], low: int) -> None:
    defined = values[~np.isnan(values)]
    if not ((defined >= low - _ROUNDING) & (defined <= 1 + _ROUNDING)).all():
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and 1.")
