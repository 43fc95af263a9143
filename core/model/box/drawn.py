"""The pictures of the box that the project draws itself: each a record, each a few lines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.model.box import arrangements
from core.model.box.entry import BoxImage
from core.model.scenes import HUES, draw_mosaic
from core.model.scenes.paint import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.model.scenes import Scene

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


def _drawn(name: str, title: str, look_for: str, draw: Callable[[], Image.Image]) -> BoxImage:
    return BoxImage(name, title, "drawn", look_for, "MIT, as this project", "Headscope", "", draw)


DRAWN = (
    _drawn(
        "three-shapes",
        "Three shapes",
        "Which heads of [CLS] cover all three shapes, and which one of them?",
        partial(_scene, arrangements.three_shapes),
    ),
    _drawn(
        "crowd",
        "A crowd of shapes",
        "Pick a shape: do its patches find the others of its colour?",
        partial(_scene, arrangements.crowd),
    ),
    _drawn(
        "odd-one-out",
        "One odd one out",
        "Fifteen circles and one square of another hue: who attends to it?",
        partial(_scene, arrangements.odd_one_out),
    ),
    _drawn(
        "repeated-pair",
        "The same pair twice",
        "The same two shapes, above on the left and below on the right: which heads join them?",
        partial(_scene, arrangements.repeated_pair),
    ),
    _drawn(
        "same-hue",
        "One hue, many brightnesses",
        "Heads that go by hue see nine like things here; heads that go by brightness do not.",
        partial(_scene, arrangements.same_hue),
    ),
    _drawn(
        "same-brightness",
        "One brightness, many hues",
        "Heads that go by brightness see nine like things here; heads that go by hue do not.",
        partial(_scene, arrangements.same_brightness),
    ),
    _drawn(
        "hue-wheel",
        "A hue wheel",
        "A head that follows hue attends along a ray, and not to the opposite side.",
        _hue_wheel,
    ),
    _drawn(
        "brightness-ramp",
        "A ramp of brightness",
        "A head that follows brightness attends to its own column, whatever the row.",
        _brightness_ramp,
    ),
    _drawn(
        "hue-by-brightness",
        "Hue across, brightness down",
        "Columns share a hue and rows a brightness: which of the two does a head keep to?",
        _hue_by_brightness,
    ),
    _drawn(
        "stripes",
        "Stripes of six hues",
        "Each hue comes twice: does a stripe attend to the other one of its hue?",
        _stripes,
    ),
    _drawn(
        "checks",
        "A checkered board",
        "Two paints in turn: near patches are unlike, and far ones may be alike.",
        _checks,
    ),
    _drawn(
        "mosaic",
        "A mosaic of 144 colours",
        "Neighbours have nothing in common, so a head that finds like patches goes by colour.",
        _mosaic,
    ),
)
