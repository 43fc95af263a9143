"""The images of an atlas: all of one size, cut into one grid of patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Indices
from core.analysis.images.colour import PatchLooks, looks_of
from core.model.trace import Array, Patches
from core.records import Shape

Pixels = NDArray[np.uint8]
MAX_SPRITE = 8  # pixels: 192 bytes a patch, 2 MB of the 10,000 tokens that a cloud draws


@dataclass(frozen=True, eq=False)
class CorpusImages:
    """The model's input for each image; the images' names are the sentences of the atlas.

    Attributes
    ----------
    pixels : uint8 (image, height, width, 3), sRGB, before normalisation.
    size : side of a patch in pixels.
    first : position of the first patch among the tokens of its image.
    """

    pixels: Annotated[Pixels, Shape("sentence height width 3")]
    size: int
    first: int

    @property
    def rows(self) -> int:
        """Rows of patches."""
        return self.pixels.shape[1] // self.size

    @property
    def columns(self) -> int:
        """Columns of patches."""
        return self.pixels.shape[2] // self.size

    @property
    def patches(self) -> int:
        """Patches per image."""
        return self.rows * self.columns

    def of_image(self, image: int) -> Patches:
        """The grid of one image, as in a trace; its original size is no longer known."""
        pixels = self.pixels[image].copy()
        input_size = (pixels.shape[0], pixels.shape[1])
        return Patches(pixels, self.rows, self.columns, self.size, self.first, input_size)

    def places(self, position: NDArray[np.integer]) -> Indices:
        """The patch number within its image for tokens at these positions; -1 for other tokens.

        Patches are numbered row by row, from 0.
        """
        number = np.asarray(position, dtype=np.intp) - self.first
        return np.where((number >= 0) & (number < self.patches), number, -1)

    def cells(self) -> Pixels:
        """The pixels of every patch: uint8 (image, patch, size, size, 3)."""
        images = len(self.pixels)
        grid = self.pixels.reshape(images, self.rows, self.size, self.columns, self.size, 3)
        return grid.swapaxes(2, 3).reshape(images, self.patches, self.size, self.size, 3)

    @cached_property
    def sprites(self) -> Pixels:
        """Every patch, at most `MAX_SPRITE` pixels wide: uint8 (image, patch, side, side, 3)."""
        step = -(-self.size // MAX_SPRITE)
        side = self.size // step
        cells = self.cells()[:, :, : side * step, : side * step]
        blocks = cells.reshape(*cells.shape[:2], side, step, side, step, 3)
        sprites: Pixels = blocks.mean(axis=(3, 5)).round().astype(np.uint8)
        return sprites

    def colours(self) -> Array:
        """The mean sRGB of every patch: float32 (image, patch, 3), 0 to 1."""
        means: Array = self.cells().mean(axis=(2, 3), dtype=np.float32) / np.float32(255)
        return means

    @cached_property
    def looks(self) -> PatchLooks:
        """How every patch looks, (image * patch,), image after image."""
        return looks_of(self.colours().reshape(-1, 3))


def join_images(parts: Sequence[Patches]) -> CorpusImages:
    """The images of several traces; `ValueError` if they are not cut in the same way."""
    shapes = {(each.pixels.shape, each.size, each.first) for each in parts}
    if len(shapes) != 1:
        raise ValueError("the images of one atlas must have one size and one grid")
    return CorpusImages(np.stack([each.pixels for each in parts]), parts[0].size, parts[0].first)
