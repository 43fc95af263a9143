"""The settings of an image processor, from a file that anyone may have written.

Only numbers are read, and only those that a processor can have; where one is missing, the family's
default takes its place, as far as that is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from core.model.errors import UnsupportedModelError
from core.model.image.facts import Processing, Size

Colour = tuple[float, float, float]

_BILINEAR, _BICUBIC = 2, 3  # PIL.Image.Resampling
_FILTERS = range(6)
_MAX_SIDE = 4_096  # pixels
_HALF: Colour = (0.5, 0.5, 0.5)
_IMAGENET: tuple[Colour, Colour] = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
# Radford et al. 2021, the published preprocessor_config.json of CLIP.
_CLIP: tuple[Colour, Colour] = (
    (0.48145466, 0.4578275, 0.40821073),
    (0.26862954, 0.26130258, 0.27577711),
)


@dataclass(frozen=True)
class _Usual:
    """A family's defaults where a checkpoint says nothing; `margin` is resized over cropped."""

    mean: Colour = _HALF
    std: Colour = _HALF
    resample: int = _BILINEAR
    keeps_aspect: bool = False
    margin: float = 1.0


# From transformers' own processors for these families, and from published checkpoints.
_USUAL = {
    "deit": _Usual(*_IMAGENET, _BICUBIC, margin=256 / 224),
    "dinov2": _Usual(*_IMAGENET, _BICUBIC, keeps_aspect=True, margin=256 / 224),
    "dinov2_with_registers": _Usual(*_IMAGENET, _BICUBIC, keeps_aspect=True, margin=256 / 224),
    "dinov3_vit": _Usual(*_IMAGENET),
    "vit_mae": _Usual(*_IMAGENET, _BICUBIC),
    "vit_msn": _Usual(*_IMAGENET, _BICUBIC),
    "beit": _Usual(resample=_BICUBIC),
    "siglip_vision_model": _Usual(resample=_BICUBIC),
    "clip_vision_model": _Usual(*_CLIP, _BICUBIC, keeps_aspect=True),
}


def read_processing(settings: Mapping[str, object], kind: str, image_size: Size) -> Processing:
    """How images are preprocessed, according to preprocessor_config.json.

    Parameters
    ----------
    settings : content of the file, empty if there is none.
    kind : model_type of the network.
    image_size : (height, width) in pixels that the network was built for.

    Raises
    ------
    UnsupportedModelError
        When a size, a mean or a factor is not one that a processor can have.
    """
    usual = _USUAL.get(kind, _Usual())
    resized, keeps_aspect = _resize(settings, usual, image_size)
    cropped = image_size if "size" not in settings else resized
    if _is_on(settings, "do_center_crop", "crop_size" in settings):
        cropped = _size(settings.get("crop_size"), "crop_size") or cropped
    if any(whole < part for whole, part in zip(resized, cropped, strict=True)):
        cropped = resized
    mean, std = _normalisation(settings, usual)
    factor = _number(settings.get("rescale_factor", 1 / 255), "rescale_factor")
    if factor == 0:
        raise _odd("rescale_factor")
    resample = settings.get("resample")
    return Processing(
        resize=resized,
        crop=cropped,
        keeps_aspect=keeps_aspect,
        resample=resample if type(resample) is int and resample in _FILTERS else usual.resample,
        rescale=factor if _is_on(settings, "do_rescale") else 1.0,
        mean=mean,
        std=std,
    )


def _resize(settings: Mapping[str, object], usual: _Usual, image_size: Size) -> tuple[Size, bool]:
    """The size to resize to, and whether the image keeps its aspect ratio."""
    size = settings.get("size")
    if size is None or not _is_on(settings, "do_resize"):
        height, width = (round(side * usual.margin) for side in image_size)
        return (height, width), usual.keeps_aspect
    if isinstance(size, dict) and "shortest_edge" in size:
        side = _side(size["shortest_edge"], "size")
        return (side, side), True
    keeps = usual.keeps_aspect and not isinstance(size, dict)  # old files have one number
    return _size(size, "size") or image_size, keeps


def _normalisation(settings: Mapping[str, object], usual: _Usual) -> tuple[Colour, Colour]:
    if not _is_on(settings, "do_normalize"):
        return (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    mean = _colour(settings.get("image_mean"), "image_mean") or usual.mean
    std = _colour(settings.get("image_std"), "image_std") or usual.std
    if min(std) <= 0:
        raise _odd("image_std")
    return mean, std


def _is_on(settings: Mapping[str, object], name: str, usual: bool = True) -> bool:
    value = settings.get(name)
    return value if isinstance(value, bool) else usual


def _size(value: object, name: str) -> Size | None:
    """(height, width) from a number or an object with both; None if nothing is given."""
    if value is None:
        return None
    if isinstance(value, dict):
        return _side(value.get("height"), name), _side(value.get("width"), name)
    side = _side(value, name)
    return side, side


def _side(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_SIDE:
        raise _odd(name)
    return value


def _colour(value: object, name: str) -> Colour | None:
    """Three numbers, or one for all channels; None if nothing is given."""
    if value is None:
        return None
    numbers = value if isinstance(value, list) else [value] * 3
    if len(numbers) != len(_HALF):
        raise _odd(name)
    red, green, blue = (_number(each, name) for each in numbers)
    return red, green, blue


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _odd(name)
    return float(value)


def _odd(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"The image processor of {{name}} has no usable {name}.",
        "Correct preprocessor_config.json, or pick another model.",
    )
