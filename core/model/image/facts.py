"""Which models read images, and how: patches, special tokens, and preprocessing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from core.model.errors import PICK_VISION, ImageError, UnsupportedModelError, WrongInputError
from core.model.trace import Token
from core.vocabulary import Modality

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

# Maximum patches of an image: 50 x 50. Attention grows with their square: 25 MB per head.
MAX_PATCHES = 2_500
Size = tuple[int, int]  # (height, width)
_NO_ID = -1  # patches are in no vocabulary
# What networks call the vectors of their special tokens.
_CLS, _DISTILLATION, _REGISTERS = (
    {"cls_token", "class_embedding"},
    {"distillation_token"},
    {"register_tokens"},
)


@dataclass(frozen=True)
class Processing:
    """What the checkpoint's processor does to an image: resize, crop, rescale, normalise.

    Attributes
    ----------
    resize : (height, width) in pixels to resize to; with `keeps_aspect`, the size that the image
        must just cover, its aspect ratio unchanged.
    crop : (height, width) of the centre crop that the model gets.
    resample : PIL's number for the filter.
    rescale : factor for the pixels, usually 1 / 255.
    mean, std : per channel, subtracted and divided by after rescaling.
    """

    resize: Size
    crop: Size
    keeps_aspect: bool
    resample: int
    rescale: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]


@dataclass(frozen=True)
class Vision:
    """What a vision model takes, and which tokens it makes of it.

    Attributes
    ----------
    patch_size : side of a patch in pixels.
    image_size : (height, width) in pixels that images get unless another size is asked for.
    processing : how an image is prepared before the model gets it.
    has_cls : whether a [CLS] token comes first.
    distillation : whether a distillation token follows it (DeiT).
    registers : how many registers follow it (Darcet et al. 2024).
    interpolates : whether the model takes images of other sizes.
    """

    patch_size: int
    image_size: Size
    processing: Processing
    has_cls: bool
    distillation: bool
    registers: int
    interpolates: bool = False

    @property
    def first(self) -> int:
        """The index of the first patch among the tokens."""
        return self.has_cls + self.distillation + self.registers

    def grid(self, size: Size | None = None) -> tuple[int, int]:
        """Rows and columns of patches of an image of that size."""
        height, width = size or self.image_size
        return height // self.patch_size, width // self.patch_size

    def tokens(self, size: Size | None = None) -> int:
        """How many tokens the model makes of an image of that size."""
        rows, columns = self.grid(size)
        return self.first + rows * columns

    def size_for(self, wanted: Size | None) -> Size:
        """The size that an image gets: `wanted` if the model takes other sizes, else its own.

        Raises
        ------
        ImageError
            When the model takes several sizes, but not this one.
        """
        if wanted is None or not self.interpolates:
            return self.image_size
        rows, columns = self.grid(wanted)
        if (rows * self.patch_size, columns * self.patch_size) != wanted or min(rows, columns) < 1:
            raise ImageError(
                f"{{name}} cuts images into patches of {self.patch_size} x {self.patch_size}"
                f" pixels, and {wanted[0]} x {wanted[1]} pixels are not a whole number of them.",
                f"Choose multiples of {self.patch_size}.",
            )
        if rows * columns > MAX_PATCHES:
            raise ImageError(
                f"{wanted[0]} x {wanted[1]} pixels are {rows * columns:,} patches for {{name}};"
                f" this app shows at most {MAX_PATCHES:,}.",
                "Choose a smaller size.",
            )
        return wanted


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


def describe_vision(network: PreTrainedModel, processing: Processing) -> Vision:
    """How a network reads images of the size that it was built for.

    The check at load finds out whether it takes other sizes.
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
    )


def image_tokens(vision: Vision, size: Size) -> tuple[Token, ...]:
    """The tokens of an image of that size."""
    names = ["[CLS]"] * vision.has_cls + ["[DIST]"] * vision.distillation
    names += [f"[REG{number + 1}]" for number in range(vision.registers)]
    rows, columns = vision.grid(size)
    special = [_token(name, place) for place, name in enumerate(names)]
    patches = [
        _token(f"r{row + 1}c{column + 1}", vision.first + place, place, row, column)
        for place, (row, column) in enumerate(product(range(rows), range(columns)))
    ]
    return (*special, *patches)


def _token(name: str, position: int, word: int = -1, row: int = -1, column: int = -1) -> Token:
    special = word < 0
    return Token(name, name, _NO_ID, special, 0, position, word, row=row, column=column)


def _own_tokens(network: PreTrainedModel) -> dict[str, int]:
    """How many tokens each weight could hold vectors for, by the last part of its name."""
    return {
        name.rpartition(".")[2]: weight.shape[-2] if weight.ndim > 1 else 1
        for name, weight in network.named_parameters()
    }


def pair_of(value: object) -> tuple[int, int]:
    """(height, width) from one number or two; zeros for anything else."""
    sides = list(value) if isinstance(value, list | tuple) else [value, value]
    numbers = [side for side in sides if type(side) is int]
    if len(sides) != 2 or len(numbers) != 2:
        return 0, 0
    return numbers[0], numbers[1]


_TOWERS = ("text_config", "vision_config")  # settings of networks that pair texts with images
# The settings that make networks attend within windows, or merge patches on the way.
_WINDOWS = ("window_size", "mask_unit_size", "depths", "num_stages", "sr_ratios")
_WINDOWED = (
    "attends within windows or merges its patches on the way, so no head compares all patches of"
    " an image."
)


def detect_modality(config: Mapping[str, object], asked: Modality | None) -> Modality:
    """Whether the network of a config.json reads text or images.

    Parameters
    ----------
    config : content of config.json, not checked yet.
    asked : which part to open of a network that reads both, such as CLIP; None opens the part that
        reads texts.

    Raises
    ------
    WrongInputError
        When it does not read what is asked for.
    """
    kind = config.get("model_type")
    if isinstance(kind, str) and _reads_images_alone(kind):
        if asked == "text":
            raise WrongInputError("{name} reads images, not texts.", "Use it with an image.")
        return "image"
    if asked == "image" and not all(isinstance(config.get(part), dict) for part in _TOWERS):
        raise WrongInputError("{name} reads texts, not images.", "Use it with a text.")
    return asked or "text"


def vision_config(config: PreTrainedConfig) -> PreTrainedConfig:
    """The settings of the part that reads images, so that it sees every patch, in order.

    Raises
    ------
    UnsupportedModelError
        For networks that attend within windows (Swin, Hiera and the like), and where the settings
        describe no grid of patches.
    """
    settings: PreTrainedConfig = getattr(config, "vision_config", config)
    if any(getattr(settings, name, None) is not None for name in _WINDOWS):
        raise UnsupportedModelError(f"{{name}} ({settings.model_type}) {_WINDOWED}", PICK_VISION)
    if hasattr(settings, "mask_ratio"):  # a masked autoencoder hides patches; here it hides none
        settings.mask_ratio = 0.0
    image_geometry(settings)
    return settings


def _reads_images_alone(kind: str) -> bool:
    """Whether transformers' network of that type takes images and nothing else."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    names = MODEL_MAPPING_NAMES.get(kind, ())
    first = names if isinstance(names, str) else next(iter(names), "")
    try:
        network = getattr(transformers, first)
        takes_ids = "input_ids" in inspect.signature(network.forward).parameters
        return tuple(network.input_modalities) == ("image",) and not takes_ids
    except Exception:  # noqa: BLE001 - a package is missing or there is no such class: refused later
        return False
