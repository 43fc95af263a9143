"""The grid of an image, against slices made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.model.trace import Patches


@pytest.fixture
def patches() -> Patches:
    pixels = np.random.default_rng(0).integers(0, 256, (4 * 2, 4 * 3, 3)).astype(np.uint8)
    return Patches(pixels, rows=2, columns=3, size=4, first=5, given=(80, 120))


def test_patches_are_read_row_by_row(patches: Patches) -> None:
    assert patches.cells.shape == (6, 4, 4, 3)
    np.testing.assert_array_equal(patches.cells[1 * 3 + 2], patches.pixels[4:8, 8:12])


def test_colours_are_means_from_0_to_1(patches: Patches) -> None:
    by_hand = [
        patches.pixels[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].mean((0, 1)) / 255
        for row in range(2)
        for column in range(3)
    ]
    np.testing.assert_allclose(patches.colours, by_hand, rtol=1e-6)


def test_the_places_of_patches_come_after_what_stands_before_them(patches: Patches) -> None:
    assert patches.tokens == slice(5, 11)
    with pytest.raises(ValueError, match="read-only"):
        patches.pixels[0, 0] = 0
