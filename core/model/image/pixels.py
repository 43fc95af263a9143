"""From an image to what a model gets: resized, cropped, normalised. Only PIL and NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.model.errors import ImageError
from core.model.image.facts import Processing, Size

Pixels = NDArray[np.uint8]

MAX_RATIO = 100  # of the sides: a strip would be resized to an image of a billion pixels


def as_rgb(image: Image.Image | Pixels) -> Image.Image:
    """An image as PIL's RGB.

    Raises
    ------
    ImageError
        For an array that is not uint8 (height, width, 3), or what :func:`check_shape` refuses.
    """
    if isinstance(image, np.ndarray):
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ImageError(
                f"An image is uint8 (height, width, 3), and this array is {image.dtype}"
                f" {image.shape}.",
                "Give another array, or an image of PIL.",
            )
        image = Image.fromarray(image)
    check_shape(*image.size)
    return image if image.mode == "RGB" else image.convert("RGB")


def check_shape(width: int, height: int) -> None:
    """Refuse an image without pixels, and a mere strip.

    Raises
    ------
    ImageError
        With its sides.
    """
    if min(width, height) < 1:
        raise ImageError("The image has no pixels.", "Give another image.")
    if max(width, height) > MAX_RATIO * min(width, height):
        raise ImageError(
            f"The image is a strip of {width} x {height} pixels.",
            f"Give one whose sides differ at most {MAX_RATIO} times.",
        )


def middle(image: Image.Image, size: Size) -> Image.Image:
    """The largest centre crop of an image with the aspect ratio of `size` (height, width).

    The image itself if it already has that aspect ratio.
    """
    height, width = size
    across = min(image.width, max(1, round(image.height * width / height)))
    down = min(image.height, max(1, round(image.width * height / width)))
    if (across, down) == image.size:
        return image
    left, top = (image.width - across) // 2, (image.height - down) // 2
    return image.crop((left, top, left + across, top + down))


def process(image: Image.Image, processing: Processing, size: Size) -> Pixels:
    """The pixels that the model sees, before normalising: uint8 (height, width, 3) of that size.

    At other sizes than the processor's own, its ratio of resized image to crop is kept.
    """
    height, width = size
    resized = _resized(image, processing, size)
    pixels = image.resize(resized[::-1], Image.Resampling(processing.resample))
    top, left = (resized[0] - height) // 2, (resized[1] - width) // 2
    return np.asarray(pixels.crop((left, top, left + width, top + height)), dtype=np.uint8)


def seen_of(image: Image.Image, processing: Processing, size: Size) -> Size:
    """(height, width) of the part of an image that :func:`process` keeps, in the image's pixels."""
    resized = _resized(image, processing, size)
    return (
        round(image.height * size[0] / resized[0]),
        round(image.width * size[1] / resized[1]),
    )


def normalise(pixels: Pixels, processing: Processing) -> NDArray[np.float32]:
    """Float32 (3, height, width): rescaled, minus the mean, divided by the standard deviation."""
    scaled = pixels.astype(np.float64) * processing.rescale
    normal = (scaled - np.array(processing.mean)) / np.array(processing.std)
    return np.ascontiguousarray(normal.transpose(2, 0, 1), dtype=np.float32)


def _resized(image: Image.Image, processing: Processing, size: Size) -> Size:
    """(height, width) that an image is resized to, from which `size` is then cut out."""
    resized = processing.resize
    if size != processing.crop:
        sides = zip(size, processing.resize, processing.crop, strict=True)
        height, width = (max(side, round(side * whole / part)) for side, whole, part in sides)
        resized = height, width
    return _covering(image, resized) if processing.keeps_aspect else resized


def _covering(image: Image.Image, size: Size) -> Size:
    """The smallest (height, width) with the image's aspect ratio that covers `size`.

    For a square this is transformers' shortest edge, which rounds the longer one down.
    """
    height, width = size
    if width * image.height >= height * image.width:  # the width decides
        return max(height, width * image.height // image.width), width
    return height, max(width, height * image.width // image.height)
