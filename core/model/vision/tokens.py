"""The tokens that a vision transformer makes of an image: its own, then the patches row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.errors import PICK_VISION, UnsupportedModelError
from core.model.trace import Token
from core.model.vision.facts import MAX_PATCHES, Processing, Size, Vision

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


_NO_ID = -1  # patches are in no vocabulary
# What networks call the vectors of their own tokens.
_CLS, _DISTILLATION, _REGISTERS = (
    {"cls_token", "class_embedding"},
    {"distillation_token"},
    {"register_tokens"},
)


def image_geometry(config: PreTrainedConfig) -> tuple[int, Size]:
    """The side of a patch, and the (height, width) of the images a network was built for.

    Raises
    ------
    UnsupportedModelError
        When patches are not square, or there are none or too many.
    """
    height, width = pair_of(getattr(config, "image_size", None))
    side, other = pair_of(getattr(config, "patch_size", None))
    if min(height, width, side) < 1 or side != other:
        raise UnsupportedModelError(
            f"config.json of {{name}} ({config.model_type}) describes no square patches of an"
            " image, so there is no grid to show.",
            PICK_VISION,
        )
    rows, columns = height // side, width // side
    if not 1 <= rows * columns <= MAX_PATCHES:
        raise UnsupportedModelError(
            f"{{name}} cuts an image into {rows * columns:,} patches; this app shows between 1 and"
            f" {MAX_PATCHES:,}.",
            PICK_VISION,
        )
    return side, (rows * side, columns * side)


def describe_vision(
    network: PreTrainedModel, processing: Processing, labels: tuple[str, ...]
) -> Vision:
    """How a network sees images of the size that it was built for.

    Whether it takes others is found out by the check.
    """
    side, size = image_geometry(network.config)
    lengths = _own_tokens(network)
    return Vision(
        patch_size=side,
        image_size=size,
        processing=processing,
        has_cls=any(name in lengths for name in _CLS),
        distillation=any(name in lengths for name in _DISTILLATION),
        registers=max((lengths[name] for name in _REGISTERS if name in lengths), default=0),
        labels=labels,
    )


def image_tokens(vision: Vision, size: Size) -> tuple[Token, ...]:
    """The tokens of an image of that size."""
    names = ["[CLS]"] * vision.has_cls + ["[DIST]"] * vision.distillation
    names += [f"[REG{number + 1}]" for number in range(vision.registers)]
    rows, columns = vision.grid(size)
    own = [_token(name, place) for place, name in enumerate(names)]
    patches = [
        _token(name, vision.first + place, place, row, column)
        for place in range(rows * columns)
        for row, column in [divmod(place, columns)]
        for name in [f"r{row + 1}c{column + 1}"]
    ]
    return (*own, *patches)


def _token(name: str, position: int, word: int = -1, row: int = -1, column: int = -1) -> Token:
    special = word < 0
    return Token(name, name, _NO_ID, special, 0, position, word, row=row, column=column)


def _own_tokens(network: PreTrainedModel) -> dict[str, int]:
    """How many tokens the network has vectors of its own for, by the vectors' name."""
    return {
        name.rpartition(".")[2]: weight.shape[-2] if weight.ndim > 1 else 1
        for name, weight in network.named_parameters()
    }


def pair_of(value: object) -> tuple[int, int]:
    """(height, width) of one number or two; zeros for anything else."""
    sides = list(value) if isinstance(value, list | tuple) else [value, value]
    numbers = [side for side in sides if type(side) is int]
    if len(sides) != 2 or len(numbers) != 2:
        return 0, 0
    return numbers[0], numbers[1]
