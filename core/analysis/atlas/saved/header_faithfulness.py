"""The arrays about faithfulness in an atlas's header, written and read.

Format 1 measured something else (distance against products that move with the keys, one baseline
for all layers): from its files only the constants are read, and faithfulness is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.analysis.atlas.data import METRICS, Measured, ModelFaithfulness
from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.query_key.clouds import STAGES
from core.analysis.query_key.scaling import ModelScaling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage

    Arrays = Mapping[str, NDArray[Any]]
    Spec = dict[str, tuple[tuple[int, ...], str]]

OLDEST_FORMAT, FORMAT = 1, 2
_CONSTANTS = {"c": "<f8", "on_edge": "|b1", "few": "|b1"}
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


def faithfulness_arrays(atlas: Atlas) -> dict[str, NDArray[np.generic]]:
    """The arrays by their names in the file."""
    return {
        **{f"scaling.{name}": getattr(atlas.scaling, name) for name in _CONSTANTS},
        **{f"trust.{stage}": _stacked(atlas.faithfulness[stage]) for stage in STAGES},
        **{
            f"full.{metric}.{stage}": _stacked(atlas.full[metric][stage])
            for metric in METRICS
            for stage in STAGES
        },
        "measured.pairs": atlas.measured.pairs,
        **{f"measured.{name}": getattr(atlas.measured, name) for name in _SHARES},
    }


def expected_arrays(layers: int, heads: int, version: int) -> Spec:
    """Shape and type of each array in a file of this format."""
    each = (layers, heads)
    constants: Spec = {f"scaling.{name}": (each, kind) for name, kind in _CONSTANTS.items()}
    if version < FORMAT:
        return constants
    figures = ((*each, len(_FIGURES)), "<f8")
    return constants | {
        **{f"trust.{stage}": figures for stage in STAGES},
        **{f"full.{metric}.{stage}": figures for metric in METRICS for stage in STAGES},
        "measured.pairs": (each, "<i8"),
        **{f"measured.{name}": (each, "<f8") for name in _SHARES},
    }


def read_faithfulness(arrays: Arrays, counted: tuple[int, int], version: int) -> StoredFaithfulness:
    """The fields of an atlas, NaN where a file of this format does not have them.

    `counted` is the number of tokens and of sentences that faithfulness was measured on. Raises
    `AtlasFileError` when a number is impossible.
    """
    unknown = np.full(arrays["scaling.c"].shape, np.nan)
    if version < FORMAT:
        nothing = {stage: ModelFaithfulness(*[unknown] * len(_FIGURES)) for stage in STAGES}
        none = np.zeros(unknown.shape, dtype=np.int64)
        full = dict.fromkeys(METRICS, nothing)
        return _stored(arrays, nothing, full, Measured(0, 0, none, unknown, unknown))
    plane = {stage: _read(f"trust.{stage}", arrays) for stage in STAGES}
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
