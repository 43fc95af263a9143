"""The headers of safetensors files, checked before any tensor is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.model.errors import NoWeightsError

if TYPE_CHECKING:
    import torch

NumberType = Literal["float32", "bfloat16", "float16"]  # that networks run in; torch's names
_LENGTH_BYTES = 8  # in front of the header, little-endian
_MAX_HEADER_BYTES = 8_000_000  # 60,000 tensors; the library itself would accept 100 MB
_MAX_AXES = 8  # of a tensor; convolutions over video have 5
_HALVES: dict[str, NumberType] = {"BF16": "bfloat16", "F16": "float16"}  # as headers call them
_ADVICE = "Download or save the model again."


def count_weights(files: Iterable[Path]) -> Counter[str]:
    """Number of weights in safetensors files by their type ("F32", ...), from the headers alone.

    The library checks each tensor's shape against its bytes, and that the bytes fill the file
    without gap or overlap; the limit on the header's length is ours.

    Raises
    ------
    NoWeightsError
        When a header is damaged, too large or does not fit its file, or two files hold one tensor.
    """
    from safetensors import safe_open

    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for path in files:
        _check_header_length(path)
        try:
            with safe_open(path, framework="pt") as file:
                names = list(file.keys())
                for tensor in map(file.get_slice, names):
                    counts[tensor.get_dtype()] += _count(tensor.get_shape())
        except Exception as error:
            raise NoWeightsError(
                f"{path.name} of {{name}} is damaged: its header does not fit its content"
                f" ({type(error).__name__}).",
                _ADVICE,
            ) from error
        if not seen.isdisjoint(names):
            raise NoWeightsError("Two files of {name} hold the same weights.", _ADVICE)
        seen.update(names)
    if not counts.total():
        raise NoWeightsError("The weights of {name} are empty.", _ADVICE)
    return counts


def number_type(counts: Counter[str]) -> NumberType:
    """The type of most of a checkpoint's weights if networks can run in it here; else float32."""
    ((commonest, _),) = counts.most_common(1)
    return _HALVES.get(commonest, "float32")


def read_weights(files: Iterable[Path]) -> dict[str, torch.Tensor]:
    """All tensors by name, mapped from their files, not copied. Check the headers first.

    Raises
    ------
    NoWeightsError
        For weights that are NaN or infinite.
    """
    from safetensors.torch import load_file

    weights: dict[str, torch.Tensor] = {}
    for path in files:
        weights |= load_file(path)
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not bool(tensor.float().isfinite().all()):
            raise NoWeightsError(
                "The weights of {name} hold numbers that are not finite (NaN or infinity), for"
                f" example in {name[:100]}: training failed, or the file is damaged.",
                "Open an earlier checkpoint.",
            )
    return weights


def _check_header_length(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    if length > _MAX_HEADER_BYTES or length + _LENGTH_BYTES > size:
        raise NoWeightsError(
            f"{path.name} of {{name}} is damaged: the file has {size:,} bytes, and its header"
            f" claims {length:,} (this app reads at most {_MAX_HEADER_BYTES:,}).",
            _ADVICE,
        )


def _count(shape: list[int]) -> int:
    if len(shape) > _MAX_AXES:
        raise ValueError(f"a tensor of {len(shape)} axes")
    return math.prod(shape)
