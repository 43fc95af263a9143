"""An image under a heat map of weights: what one patch attends to, as pixels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import palette
from core.model.trace import Array, Patches

if TYPE_CHECKING:
    Pixels = NDArray[np.uint8]

DIMMED = 0.35  # of the brightness, for patches without weight, so that heat shows on any image
SIDE = 480  # pixels at least: a small image is enlarged by a whole factor


def heat_pixels(
    patches: Patches, weights: Array, theme: str, frames: Mapping[int, str] = MappingProxyType({})
) -> Pixels:
    """The darkened image, pink where weight goes.

    Parameters
    ----------
    weights : (patch,), not negative; the largest gets the full colour, and strength follows the
        square root, so that small weights are visible.
    frames : the frame colour, ``#rrggbb``, of each patch that has a frame.

    Returns
    -------
    uint8 (height, width, 3), at least `SIDE` high.
    """
    colours = palette(theme)
    grid = (patches.rows, patches.columns)
    share = np.sqrt(np.maximum(weights, 0) / max(float(weights.max(initial=0)), 1e-12))
    heat = share.reshape(grid).repeat(patches.size, 0).repeat(patches.size, 1)[..., None]
    image = patches.pixels * (DIMMED + (1 - DIMMED) * heat)
    tinted = image * (1 - 0.6 * heat) + _rgb(colours.key) * 0.6 * heat
    scale = max(1, -(-SIDE // patches.pixels.shape[0]))
    picture = tinted.round().astype(np.uint8).repeat(scale, 0).repeat(scale, 1)
    for patch, colour in frames.items():
        _frame(picture, divmod(patch, patches.columns), patches.size * scale, _rgb(colour))
    return picture


def _frame(image: Pixels, place: tuple[int, int], size: int, colour: NDArray[np.float64]) -> None:
    """Draw the frame of a patch into the image."""
    top, left = (each * size for each in place)
    width = max(2, size // 8)
    cell = image[top : top + size, left : left + size]
    inner = cell[width:-width, width:-width].copy()
    cell[:] = colour.round().astype(np.uint8)
    cell[width:-width, width:-width] = inner


def _rgb(colour: str) -> NDArray[np.float64]:
    """``#rrggbb`` as three numbers from 0 to 255."""
    return np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)], dtype=np.float64)
