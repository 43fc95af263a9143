"""Mosaics: pictures in which where a colour stands says nothing about which one it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.drawing.paint import mix

SIZES = (8, 8, 8, 16, 24)  # sides of the tiles in pixels; as small as a patch most often


def draw_mosaic(seed: int, side: int = 96, tile: int | None = None) -> NDArray[np.uint8]:
    """A mosaic of square tiles, uint8 (side, side, 3).

    Half of the mosaics take their tiles from three to eight paints; the others draw each tile's hue
    and brightness anew. Hue and brightness are independent.

    Parameters
    ----------
    tile : side of a tile in pixels; one of `SIZES` by default.
    """
    generator = np.random.default_rng((seed, 18))
    tile = tile or int(generator.choice(SIZES))
    count = -(-side // tile)
    if generator.random() < 0.5:
        paints = _random_paints(generator, (int(generator.integers(3, 9)),))
        colours = paints[generator.integers(0, len(paints), (count, count))]
    else:
        colours = _random_paints(generator, (count, count))
    image = np.kron(colours, np.ones((tile, tile, 1)))[:side, :side]
    return np.rint(255 * image).astype(np.uint8)


def _random_paints(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Colours (..., 3), 0 to 1; one in eight has no hue."""
    saturation = generator.uniform(0.4, 1, shape) * (generator.random(shape) > 1 / 8)
    return mix(generator.random(shape), saturation, generator.uniform(0.08, 0.92, shape))
