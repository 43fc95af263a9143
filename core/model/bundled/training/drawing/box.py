"""The twelve drawn sample images, written anew: each a few lines.

python -m core.model.bundled.training.drawing.box
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import core.model.box
from core.model.bundled.training.drawing import HUES, Scene, arrangements, draw_mosaic
from core.model.bundled.training.drawing.paint import mix

Floats = NDArray[np.float64]

SIDE = 480  # pixels; models resize


def _image(colours: Floats) -> Image.Image:
    """Of sRGB values (row, column, 3), 0 to 1."""
    return Image.fromarray(np.rint(255 * colours).astype(np.uint8))


def _plane() -> tuple[Floats, Floats]:
    """Row and column of each pixel, 0 to 1."""
    line = (np.arange(SIDE) + 0.5) / SIDE
    return np.broadcast_to(line[:, None], (SIDE, SIDE)), np.broadcast_to(line, (SIDE, SIDE))


def _hue_wheel() -> Image.Image:
    """Hue round the middle, saturation outwards, one brightness."""
    rows, columns = _plane()
    x, y = columns - 0.5, 0.5 - rows
    hue = np.arctan2(y, x) / (2 * np.pi) % 1
    return _image(mix(hue, np.clip(np.hypot(x, y) / 0.45, 0, 1), 0.55))


def _brightness_ramp() -> Image.Image:
    """Grey, dark on the left and bright on the right."""
    _, columns = _plane()
    return _image(mix(0.0, 0.0, columns))


def _hue_by_brightness() -> Image.Image:
    """Hue across and brightness down: the two apart from each other."""
    rows, columns = _plane()
    return _image(mix(columns, 1.0, 0.9 - 0.8 * rows))


def _stripes() -> Image.Image:
    """Six hues in turn, all of one brightness."""
    _, columns = _plane()
    hues = np.array(list(HUES.values()))
    return _image(mix(hues[(12 * columns).astype(int) % 6], 0.9, 0.5))


def _checks() -> Image.Image:
    """A board of two paints: 6 x 6 fields."""
    rows, columns = _plane()
    odd = ((6 * rows).astype(int) + (6 * columns).astype(int)) % 2
    return _image(np.where(odd[..., None] == 1, mix(0.62, 1.0, 0.25), mix(0.14, 0.9, 0.85)))


def _mosaic() -> Image.Image:
    """12 x 12 tiles, each with a hue and a brightness of its own."""
    return Image.fromarray(np.kron(draw_mosaic(4, 12, 1), np.ones((40, 40, 1), dtype=np.uint8)))


def _scene(compose: Callable[[int], Scene]) -> Image.Image:
    return Image.fromarray(compose(SIDE).pixels)


PICTURES: dict[str, Callable[[], Image.Image]] = {
    "three-shapes": partial(_scene, arrangements.three_shapes),
    "crowd": partial(_scene, arrangements.crowd),
    "odd-one-out": partial(_scene, arrangements.odd_one_out),
    "repeated-pair": partial(_scene, arrangements.repeated_pair),
    "same-hue": partial(_scene, arrangements.same_hue),
    "same-brightness": partial(_scene, arrangements.same_brightness),
    "hue-wheel": _hue_wheel,
    "brightness-ramp": _brightness_ramp,
    "hue-by-brightness": _hue_by_brightness,
    "stripes": _stripes,
    "checks": _checks,
    "mosaic": _mosaic,
}


def main() -> None:
    """Write every picture beside what `core.model.box` says of it."""
    folder = Path(core.model.box.__file__).parent
    for name, draw in PICTURES.items():
        draw().save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
