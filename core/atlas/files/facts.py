"""``atlas.safetensors``: the arrays that an atlas needs whatever is looked at.

Safetensors is not packed, and its library checks that every array lies within the file. What is
read is not trusted: each array must have the shape and type that ``atlas.json`` implies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from core.analysis.head_patterns.similarity import Distances
from core.analysis.query_key.scaling import ModelScaling
from core.analysis.query_key.target import TargetKind
from core.atlas.data import (
    DIMENSIONS,
    METRICS,
    AtlasFacts,
    Kept,
    Measured,
    ModelFaithfulness,
    Positions,
)
from core.atlas.files.description import PIXELS, Description
from core.atlas.files.errors import AtlasFileError
from core.atlas.pixels import CorpusImages
from core.vocabulary import STAGES

Arrays = Mapping[str, NDArray[Any]]
Spec = dict[str, tuple[tuple[int, ...], str]]  # shape and type of arrays by name
_ROUNDING = 1e-4  # of shares of the variance; attention is summed in float32
_FIGURE_ROUNDING = 1e-9  # of correlations, and of shares of keys
_MAX_HEADER = 2**16  # bytes of names, shapes and types; there are about thirty arrays
_CONSTANTS = {"c": "float64", "on_edge": "bool", "few": "bool"}  # of scaling
_SHARES = ("top1", "top3")
_FIGURES = ("correlation", "low", "high", "per_sentence", *_SHARES)  # the last axis of an array
_PICTURES = ("plane", *(f"full.{metric}" for metric in METRICS))
_SCORES: dict[TargetKind, str] = {"centred": "", "raw": "raw_scores."}  # before a picture's name


def facts_arrays(facts: AtlasFacts) -> dict[str, NDArray[Any]]:
    """The arrays of an atlas by their names in the file."""
    arrays: dict[str, NDArray[Any]] = {
        "distances.sums": facts.distances.sums,
        "positions.sums": facts.positions.sums,
        "positions.counts": facts.positions.counts,
        "measured.pairs": facts.measured.pairs,
        **{f"measured.{name}": getattr(facts.measured, name) for name in _SHARES},
        **{f"scaling.{name}": getattr(facts.scaling, name) for name in _CONSTANTS},
        **{f"shares.{stage}": facts.shares[stage] for stage in STAGES},
        **({PIXELS: facts.images.pixels} if facts.images is not None else {}),
    }
    for kind, scores in _SCORES.items():
        kept = facts.kept(kind)
        pictures = [kept.plane, *(kept.full[metric] for metric in METRICS)]
        for picture, by_stage in zip(_PICTURES, pictures, strict=True):
            for stage in STAGES:
                figures = [getattr(by_stage[stage], name) for name in _FIGURES]
                arrays[f"{scores}{picture}.{stage}"] = np.stack(figures, axis=-1)
    return arrays


def expected_facts(description: Description) -> Spec:
    """Shape and type of each of these arrays."""
    layers, heads, shown = description.layers, description.heads, description.positions
    each, grid = (layers, heads), description.images
    pictures = [
        f"{scores}{picture}.{stage}"
        for scores in _SCORES.values()
        for picture in _PICTURES
        for stage in STAGES
    ]
    return {
        "distances.sums": ((layers * heads, layers * heads), "float64"),
        "positions.sums": ((*each, shown, shown), "float64"),
        "positions.counts": ((shown, shown), "float64"),
        **{f"shares.{stage}": ((*each, DIMENSIONS), "float64") for stage in STAGES},
        **{f"scaling.{name}": (each, kind) for name, kind in _CONSTANTS.items()},
        **dict.fromkeys(pictures, ((*each, len(_FIGURES)), "float64")),
        "measured.pairs": (each, "int64"),
        **{f"measured.{name}": (each, "float64") for name in _SHARES},
        **({PIXELS: ((description.sentences, *grid.shape), "uint8")} if grid else {}),
    }


def read_facts(description: Description, arrays: Arrays) -> AtlasFacts:
    """The facts of an atlas; `AtlasFileError` where a number is impossible.

    NaN is what is not defined, or was not measured.
    """
    _check_arrays(arrays, description.sentences, description.compared[0])
    for name in _SHARES:
        _check_figures(f"measured.{name}", arrays[f"measured.{name}"], 0)
    grid = description.images
    kept = {kind: _read_kept(scores, arrays) for kind, scores in _SCORES.items()}
    euclidean = kept["centred"].full["euclidean"]
    return AtlasFacts(
        model=description.model,
        causal=description.causal,
        tokens=description.tokens,
        sentences=description.sentences,
        labelled=description.labelled,
        shares={stage: arrays[f"shares.{stage}"] for stage in STAGES},
        scaling=ModelScaling(
            raw=euclidean["raw"].correlation,
            translated=euclidean["translated"].correlation,
            normalized=euclidean["normalized"].correlation,
            **{name: arrays[f"scaling.{name}"] for name in _CONSTANTS},
            raw_top1=euclidean["raw"].top1,
            normalized_top1=euclidean["normalized"].top1,
        ),
        faithfulness=kept["centred"].plane,
        full=kept["centred"].full,
        raw_scores=kept["raw"],
        measured=Measured(
            *description.measured,
            *(arrays[f"measured.{name}"] for name in ("pairs", *_SHARES)),
        ),
        distances=Distances(arrays["distances.sums"], *description.compared),
        positions=Positions(arrays["positions.sums"], arrays["positions.counts"]),
        settings=description.settings,
        layer_numbers=description.layer_numbers,
        depth=description.depth,
        images=grid and CorpusImages(arrays[PIXELS], grid.size, grid.first),
    )


def _read_kept(scores: str, arrays: Arrays) -> Kept:
    plane, *full = (
        {stage: _read_figures(f"{scores}{picture}.{stage}", arrays) for stage in STAGES}
        for picture in _PICTURES
    )
    return Kept(plane, dict(zip(METRICS, full, strict=True)))


def _read_figures(name: str, arrays: Arrays) -> ModelFaithfulness:
    figures = {each: np.ascontiguousarray(arrays[name][..., i]) for i, each in enumerate(_FIGURES)}
    for each, values in figures.items():
        _check_figures(f"{name}.{each}", values, 0 if each in _SHARES else -1)
    return ModelFaithfulness(**figures)


def pack_arrays(arrays: Arrays) -> bytes:
    """The bytes of a safetensors file."""
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack_arrays(raw: bytes, expected: Spec) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, of exactly these shapes and types; others are refused.

    A shape may have -1 for a length that is not known before. Raises `AtlasFileError`.
    """
    if int.from_bytes(raw[:8], "little") > _MAX_HEADER:
        raise AtlasFileError("The arrays of the file have a list of contents without end.")
    try:
        arrays = load(raw)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise AtlasFileError(
            f"The arrays of the file are damaged ({type(error).__name__})."
        ) from error
    for name, (shape, kind) in expected.items():
        if name not in arrays:
            raise AtlasFileError(f"The file lacks “{name}”.")
        _check(name, arrays[name], shape, kind)
    if unknown := arrays.keys() - expected.keys():
        raise AtlasFileError(f"The file has {len(unknown):,} arrays that no atlas has.")
    return {name: arrays[name] for name in expected}


@contextmanager
def open_arrays(path: Path, expected: Spec) -> Iterator[Callable[[str], NDArray[Any]]]:
    """A function that reads one array of a safetensors file by its name; errors as above."""
    with path.open("rb") as file:
        if int.from_bytes(file.read(8), "little") > _MAX_HEADER:
            raise AtlasFileError("The arrays of the file have a list of contents without end.")
    try:
        with safe_open(path, framework="np") as opened:
            if set(opened.keys()) != expected.keys():
                raise AtlasFileError("The file has other arrays than its description implies.")

            def read(name: str) -> NDArray[Any]:
                shape, kind = expected[name]
                if not _fits(opened.get_slice(name).get_shape(), shape):
                    raise AtlasFileError(f"“{name}” has another shape than the file's sizes imply.")
                array: NDArray[Any] = opened.get_tensor(name)
                _check(name, array, shape, kind)
                return array

            yield read
    except SafetensorError as error:
        raise AtlasFileError("The arrays of the file are damaged.") from error


def _fits(sizes: Sequence[int], shape: tuple[int, ...]) -> bool:
    """Whether an array of these sizes has the shape, in which -1 is any length."""
    pairs = zip(sizes, shape, strict=False)
    return len(sizes) == len(shape) and all(wanted in {size, -1} for size, wanted in pairs)


def _check(name: str, array: NDArray[Any], shape: tuple[int, ...], kind: str) -> None:
    if array.dtype != np.dtype(kind) or not _fits(array.shape, shape):
        raise AtlasFileError(f"“{name}” has another shape or type than the file's sizes imply.")
    if kind == "bool" and (array.view(np.uint8) > 1).any():
        raise AtlasFileError(f"“{name}” has values that are neither true nor false.")


def _check_arrays(arrays: Arrays, sentences: int, compared: int) -> None:
    """Raise `AtlasFileError` for numbers that are impossible; faithfulness is checked elsewhere."""
    for name, values in arrays.items():
        if name.startswith("shares."):
            _within(name, values, 0, 1)
    c = arrays["scaling.c"]
    if not np.isfinite(c).all() or (c <= 0).any():
        raise AtlasFileError("“scaling.c” has constants that are not positive numbers.")
    if (arrays["measured.pairs"] < 0).any():
        raise AtlasFileError("“measured.pairs” has counts below zero.")
    _check_distances(arrays["distances.sums"], compared)
    _check_positions(arrays["positions.sums"], arrays["positions.counts"], sentences)


def _check_figures(name: str, values: NDArray[Any], low: int) -> None:
    """`AtlasFileError` for correlations or shares beyond what is possible; NaN is not defined."""
    defined = values[~np.isnan(values)]
    if not ((defined >= low - _FIGURE_ROUNDING) & (defined <= 1 + _FIGURE_ROUNDING)).all():
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and 1.")


def _within(name: str, values: NDArray[Any], low: float, high: float) -> None:
    if not ((values >= low - _ROUNDING) & (values <= high + _ROUNDING)).all():  # so NaN fails
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and {high}.")


def _check_distances(sums: NDArray[Any], compared: int) -> None:
    """The map of heads needs symmetric distances from 0 to 1, 0 on the diagonal."""
    if compared < 1:
        raise AtlasFileError("The distances between heads were measured on no token.")
    if not ((sums >= 0) & (sums <= compared * (1 + _ROUNDING))).all():
        raise AtlasFileError("The distances between heads are not between 0 and 1.")
    if (sums != sums.T).any() or sums.diagonal().any():
        raise AtlasFileError("The distances between heads are not the same both ways.")


def _check_positions(sums: NDArray[Any], counts: NDArray[Any], sentences: int) -> None:
    if not ((counts >= 0) & (counts <= sentences)).all():
        raise AtlasFileError("“positions” counts more sentences than there are.")
    if not ((sums >= 0) & (sums <= counts * (1 + _ROUNDING))).all():
        raise AtlasFileError("“positions” has attention that is not between 0 and 1.")
