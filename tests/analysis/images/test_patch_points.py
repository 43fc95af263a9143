"""Small pictures of patches, and who attends to whom."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.points import partners, thumbnails
from core.model.trace import Patches


def patches_of(size: int) -> Patches:
    pixels = np.random.default_rng(size).integers(0, 256, (2 * size, 3 * size, 3), dtype=np.uint8)
    return Patches(pixels, 2, 3, size, 1, (2 * size, 3 * size))


@pytest.mark.parametrize("size", [8, 14, 16, 24])
def test_small_patches_stay_as_they_are(size: int) -> None:
    patches = patches_of(size)
    assert thumbnails(patches) is patches


@pytest.mark.parametrize(("size", "side"), [(32, 16), (28, 14), (48, 24), (37, 1)])
def test_a_large_patch_shrinks_to_means_of_its_own_pixels(size: int, side: int) -> None:
    patches, step = patches_of(size), size // side
    small = thumbnails(patches).pixels
    assert small.shape == (2 * side, 3 * side, 3)
    for row, column in ((0, 0), (side, side), (2 * side - 1, 3 * side - 1)):
        block = patches.pixels[row * step : (row + 1) * step, column * step : (column + 1) * step]
        mean = block.reshape(-1, 3).astype(float).mean(axis=0)
        np.testing.assert_allclose(small[row, column], mean, atol=0.51)


def test_partners_are_the_largest_weight_of_the_row_and_of_the_column() -> None:
    attention = np.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.4, 0.4, 0.2]], dtype=np.float32)
    expected = [[1, 0.7], [0, 0.6], [0, 0.4], [1, 0.6], [0, 0.7], [0, 0.2]]
    np.testing.assert_allclose(partners(attention), expected, rtol=1e-6)
