"""A decoded picture -> RGB of the size that is kept, some rows at a time.

Converted as a whole, a picture would be in memory four times, with 16 bits ten times.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

_BAND_PIXELS = 2**20  # converted at a time: about 16 MB, whatever the mode


def small_rgb(image: Image.Image, max_side: int) -> tuple[Image.Image, bool]:
    """The picture as RGB on white, and whether any of it was transparent.

    A longer side above `max_side` is brought to that: boxes of whole pixels are averaged until less
    than twice as many remain, which are resized by bicubic interpolation.
    """
    width, height = image.size
    longer = max(image.size)
    factor = max(1, longer // max_side)
    small = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    rows = max(1, _BAND_PIXELS // (width * factor)) * factor
    blended = False
    for top in range(0, height, rows):
        band, hides = _on_white(image.crop((0, top, width, min(height, top + rows))))
        small.paste(band.reduce(factor), (0, top // factor))
        blended |= hides
    if longer <= max_side:
        return small, blended
    size = max(1, round(width * max_side / longer)), max(1, round(height * max_side / longer))
    exact = (0, 0, width / factor, height / factor)  # the last box may be a part of one
    return small.resize(size, Image.Resampling.BICUBIC, exact), blended


def _on_white(image: Image.Image) -> tuple[Image.Image, bool]:
    """An image as RGB, and whether any of it was transparent."""
    if image.mode == "I;16":
        return _of_16_bits(image)
    if not image.has_transparency_data:
        return image.convert("RGB"), False
    layered = image.convert("RGBA")
    if layered.getchannel("A").getextrema()[0] == 255:
        return layered.convert("RGB"), False
    ground = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(ground, layered).convert("RGB"), True


def _of_16_bits(image: Image.Image) -> tuple[Image.Image, bool]:
    """The same of 16-bit grey, which PIL would clip, not scale; a clear value becomes white."""
    wide = np.asarray(image)
    grey = ((wide.astype(np.uint32) + 128) // 257).astype(np.uint8)  # rounded: 257 is odd
    clear = image.info.get("transparency")
    hidden = wide == (clear if isinstance(clear, int) else -1)
    grey[hidden] = 255
    return Image.fromarray(grey).convert("RGB"), bool(hidden.any())
