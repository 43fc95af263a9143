"""The arrays about faithfulness in an atlas's file, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.query_key.scaling import ModelScaling
from core.atlas.data import METRICS, AtlasFacts, Kept, Measured, ModelFaithfulness
from core.atlas.files.errors import AtlasFileError
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric

    Arrays = Mapping[str, NDArray[Any]]
    Spec = dict[str, tuple[tuple[int, ...], str]]

_CONSTANTS = {"c": "float64", "on_edge": "bool", "few": "bool"}
_CORRELATIONS = ("correlation", "low", "high", "per_sentence")
_SHARES = ("top1", "top3")
_FIGURES = (*_CORRELATIONS, *_SHARES)  # the last axis of an array
_RAW = "raw_scores."  # before the names of figures for raw scores
_ROUNDING = 1e-9  # of correlations and shares


class StoredFaithfulness(NamedTuple):
    """The fields of an atlas that this module reads."""

    scaling: ModelScaling
    faithfulness: Mapping[Stage, ModelFaithfulness]
    full: Mapping[Metric, Mapping[Stage, ModelFaithfulness]]
    measured: Measured
    raw_scores: Kept


def faithfulness_arrays(facts: AtlasFacts) -> dict[str, NDArray[np.generic]]:
    """The arrays by their names in the file."""
    return {
        **{f"scaling.{name}": getattr(facts.scaling, name) for name in _CONSTANTS},
        **_kept_arrays("", Kept(facts.faithfulness, facts.full)),
        **_kept_arrays(_RAW, facts.raw_scores),
        "measured.pairs": facts.measured.pairs,
        **{f"measured.{name}": getattr(facts.measured, name) for name in _SHARES},
    }


def _kept_arrays(kind: str, kept: Kept) -> dict[str, NDArray[np.generic]]:
    planes = {f"{kind}plane.{stage}": _stacked(kept.plane[stage]) for stage in STAGES}
    return planes | {
        f"{kind}full.{metric}.{stage}": _stacked(kept.full[metric][stage])
        for metric in METRICS
        for stage in STAGES
    }


def expected_faithfulness(layers: int, heads: int) -> Spec:
    """Shape and type of each array."""
    each = (layers, heads)
    figures = ((*each, len(_FIGURES)), "float64")
    pictures = [f"plane.{stage}" for stage in STAGES]
    pictures += [f"full.{metric}.{stage}" for metric in METRICS for stage in STAGES]
    return {
        **{f"scaling.{name}": (each, kind) for name, kind in _CONSTANTS.items()},
        **dict.fromkeys(pictures, figures),
        **{f"{_RAW}{name}": figures for name in pictures},
        "measured.pairs": (each, "int64"),
        **{f"measured.{name}": (each, "float64") for name in _SHARES},
    }


def read_faithfulness(arrays: Arrays, counted: tuple[int, int]) -> StoredFaithfulness:
    """The fields of an atlas; NaN is what is not defined, or was not measured.

    `counted` is the number of tokens and of sentences that faithfulness was measured on. Raises
    `AtlasFileError` when a number is impossible.
    """
    for name in _SHARES:
        _check(f"measured.{name}", arrays[f"measured.{name}"], 0)
    if (arrays["measured.pairs"] < 0).any():
        raise AtlasFileError("“measured.pairs” has counts below zero.")
    top1, top3 = (arrays[f"measured.{name}"] for name in _SHARES)
    centred = _read_kept("", arrays)
    return StoredFaithfulness(
        _scaling(arrays, centred.full["euclidean"]),
        centred.plane,
        centred.full,
        Measured(*counted, arrays["measured.pairs"], top1, top3),
        _read_kept(_RAW, arrays),
    )


def _read_kept(kind: str, arrays: Arrays) -> Kept:
    return Kept(
        plane={stage: _read(f"{kind}plane.{stage}", arrays) for stage in STAGES},
        full={
            metric: {stage: _read(f"{kind}full.{metric}.{stage}", arrays) for stage in STAGES}
            for metric in METRICS
        },
    )


def _scaling(arrays: Arrays, euclidean: Mapping[Stage, ModelFaithfulness]) -> ModelScaling:
    return ModelScaling(
        raw=euclidean["raw"].correlation,
        translated=euclidean["translated"].correlation,
        normalized=euclidean["normalized"].correlation,
        c=arrays["scaling.c"],
        on_edge=arrays["scaling.on_edge"],
        few=arrays["scaling.few"],
        raw_top1=euclidean["raw"].top1,
        normalized_top1=euclidean["normalized"].top1,
    )


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
