"""Figures of every head among the arrays of ``atlas.safetensors``, and reading any such file.

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
from safetensors.numpy import save

from core.atlas.data import DIMENSIONS, AtlasFacts, Measured, ModelFaithfulness
from core.atlas.files.description import PIXELS, Description
from core.atlas.files.errors import AtlasFileError
from core.atlas.pixels import CorpusImages
from core.vocabulary import STAGES

Arrays = Mapping[str, NDArray[Any]]
Spec = dict[str, tuple[tuple[int, ...], str]]  # shape and type of arrays by name
_ROUNDING = 1e-4  # of shares of the variance
_FIGURE_ROUNDING = 1e-9  # of correlations, and of shares of keys
_MAX_HEADER = 2**16  # bytes of names, shapes and types; there are about thirty arrays
_FIGURES = ("correlation", "top1")  # of faithfulness, the last axis of an array


def facts_arrays(facts: AtlasFacts) -> dict[str, NDArray[Any]]:
    """The arrays of an atlas by their names in the file."""
    arrays: dict[str, NDArray[Any]] = {
        "c": facts.c,
        "measured.top1": facts.measured.top1,
        **({PIXELS: facts.images.pixels} if facts.images is not None else {}),
    }
    for stage in STAGES:
        figures = [getattr(facts.faithfulness[stage], name) for name in _FIGURES]
        arrays[f"plane.{stage}"] = np.stack(figures, axis=-1)
        arrays[f"shares.{stage}"] = facts.shares[stage]
    return arrays


def expected_facts(description: Description) -> Spec:
    """Shape and type of each of these arrays."""
    each, grid = (description.layers, description.heads), description.images
    return {
        **{f"shares.{stage}": ((*each, DIMENSIONS), "float64") for stage in STAGES},
        **{f"plane.{stage}": ((*each, len(_FIGURES)), "float64") for stage in STAGES},
        **dict.fromkeys(("c", "measured.top1"), (each, "float64")),
        **({PIXELS: ((description.sentences, *grid.shape), "uint8")} if grid else {}),
    }


def read_facts(description: Description, arrays: Arrays) -> AtlasFacts:
    """The facts of an atlas; `AtlasFileError` where a number is impossible.

    NaN is what is not defined, or was not measured.
    """
    for stage in STAGES:
        _within(f"shares.{stage}", arrays[f"shares.{stage}"], 0, 1)
    if not np.isfinite(arrays["c"]).all() or (arrays["c"] <= 0).any():
        raise AtlasFileError("“c” has constants that are not positive numbers.")
    _check_figures("measured.top1", arrays["measured.top1"], 0)
    grid = description.images
    return AtlasFacts(
        model=description.model,
        causal=description.causal,
        tokens=description.tokens,
        sentences=description.sentences,
        labelled=description.labelled,
        shares={stage: arrays[f"shares.{stage}"] for stage in STAGES},
        c=arrays["c"],
        faithfulness={stage: _read_figures(f"plane.{stage}", arrays) for stage in STAGES},
        measured=Measured(description.measured, arrays["measured.top1"]),
        settings=description.settings,
        layer_numbers=description.layer_numbers,
        depth=description.depth,
        images=grid and CorpusImages(arrays[PIXELS], grid.size, grid.first),
    )


def _read_figures(name: str, arrays: Arrays) -> ModelFaithfulness:
    figures = {each: np.ascontiguousarray(arrays[name][..., i]) for i, each in enumerate(_FIGURES)}
    for each, low in zip(_FIGURES, (-1, 0), strict=True):
        _check_figures(f"{name}.{each}", figures[each], low)
    return ModelFaithfulness(**figures)


def pack_arrays(arrays: Arrays) -> bytes:
    """The bytes of a safetensors file."""
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


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
                try:
                    array: NDArray[Any] = opened.get_tensor(name)
                except (ValueError, KeyError, TypeError) as error:  # a type that NumPy lacks
                    raise AtlasFileError("The arrays of the file are damaged.") from error
                if array.dtype != np.dtype(kind):
                    raise AtlasFileError(f"“{name}” has another type than it has in an atlas.")
                if kind == "bool" and (array.view(np.uint8) > 1).any():
                    raise AtlasFileError(f"“{name}” has values that are neither true nor false.")
                return array

            yield read
    except SafetensorError as error:
        raise AtlasFileError("The arrays of the file are damaged.") from error


def _fits(sizes: Sequence[int], shape: tuple[int, ...]) -> bool:
    """Whether an array of these sizes has the shape, in which -1 is any length."""
    pairs = zip(sizes, shape, strict=False)
    return len(sizes) == len(shape) and all(wanted in {size, -1} for size, wanted in pairs)


def _check_figures(name: str, values: NDArray[Any], low: int) -> None:
    """`AtlasFileError` for correlations or shares beyond what is possible; NaN is not defined."""
    defined = values[~np.isnan(values)]
    if not ((defined >= low - _FIGURE_ROUNDING) & (defined <= 1 + _FIGURE_ROUNDING)).all():
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and 1.")


def _within(name: str, values: NDArray[Any], low: float, high: float) -> None:
    if not ((values >= low - _ROUNDING) & (values <= high + _ROUNDING)).all():  # so NaN fails
        raise AtlasFileError(f"“{name}” has numbers that are not between {low} and {high}.")
