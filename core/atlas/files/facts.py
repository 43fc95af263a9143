"""``atlas.safetensors``: the arrays that an atlas needs whatever is looked at.

Safetensors is not packed, and its library checks that every array lies within the file. What is
read is not trusted: each array must have the shape and type that ``atlas.json`` implies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.head_patterns.similarity import Distances
from core.atlas.data import DIMENSIONS, AtlasFacts, Positions
from core.atlas.files.checks import check_arrays
from core.atlas.files.description import PIXELS, Description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.faithfulness import (
    expected_faithfulness,
    faithfulness_arrays,
    read_faithfulness,
)
from core.atlas.pixels import CorpusImages
from core.vocabulary import STAGES

if TYPE_CHECKING:
    Arrays = Mapping[str, NDArray[Any]]
    Spec = dict[str, tuple[tuple[int, ...], str]]

_MAX_HEADER = 2**16  # bytes of names, shapes and types; there are about thirty arrays


def facts_arrays(facts: AtlasFacts) -> dict[str, NDArray[Any]]:
    """The arrays of an atlas by their names in the file."""
    return {
        "distances.sums": facts.distances.sums,
        "positions.sums": facts.positions.sums,
        "positions.counts": facts.positions.counts,
        **{f"shares.{stage}": facts.shares[stage] for stage in STAGES},
        **faithfulness_arrays(facts),
        **({PIXELS: facts.images.pixels} if facts.images is not None else {}),
    }


def expected_facts(description: Description) -> Spec:
    """Shape and type of each of these arrays."""
    layers, heads, shown = description.layers, description.heads, description.positions
    grid = description.images
    return {
        "distances.sums": ((layers * heads, layers * heads), "float64"),
        "positions.sums": ((layers, heads, shown, shown), "float64"),
        "positions.counts": ((shown, shown), "float64"),
        **{f"shares.{stage}": ((layers, heads, DIMENSIONS), "float64") for stage in STAGES},
        **expected_faithfulness(layers, heads),
        **({PIXELS: ((description.sentences, *grid.shape), "uint8")} if grid else {}),
    }


def read_facts(description: Description, arrays: Arrays) -> AtlasFacts:
    """The facts of an atlas; `AtlasFileError` for numbers that are impossible."""
    check_arrays(arrays, description.sentences, description.compared[0])
    grid = description.images
    return AtlasFacts(
        model=description.model,
        causal=description.causal,
        tokens=description.tokens,
        sentences=description.sentences,
        labelled=description.labelled,
        shares={stage: arrays[f"shares.{stage}"] for stage in STAGES},
        **read_faithfulness(arrays, description.measured)._asdict(),
        distances=Distances(arrays["distances.sums"], *description.compared),
        positions=Positions(arrays["positions.sums"], arrays["positions.counts"]),
        settings=description.settings,
        layer_numbers=description.layer_numbers,
        depth=description.depth,
        images=grid and CorpusImages(arrays[PIXELS], grid.size, grid.first),
    )


def pack_arrays(arrays: Arrays) -> bytes:
    """The bytes of a safetensors file."""
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack_arrays(raw: bytes, expected: Spec) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, of exactly these shapes and types; others are refused.

    A shape may have -1 for a length that is not known before. Raises `AtlasFileError`.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

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
    from safetensors import SafetensorError, safe_open

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
