"""An image under a heat: where weight goes it is bright and pink, elsewhere dark."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.images.patch_heat import DIMMED, SIDE, heat_pixels
from core.figures.palette import palette
from core.model.trace import Patches


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_weight_is_pink_and_the_rest_is_dark(theme: str) -> None:
    grey = np.full((8, 12, 3), 200, dtype=np.uint8)
    patches = Patches(grey, rows=2, columns=3, size=4, first=1, given=(8, 12))
    weights = np.array([0, 0, 0, 0, 0.25, 1.0], dtype=np.float32)
    drawn = heat_pixels(patches, weights, theme, {2: palette(theme).query})
    scale = SIDE // 8
    assert drawn.shape == (8 * scale, 12 * scale, 3)
    cells = drawn.reshape(2, 4 * scale, 3, 4 * scale, 3).swapaxes(1, 2).reshape(6, -1, 3)
    assert np.unique(cells[0], axis=0).tolist() == [[round(200 * DIMMED)] * 3]
    key = np.array([int(palette(theme).key[i : i + 2], 16) for i in (1, 3, 5)])
    full = np.round(200 * 0.4 + key * 0.6)
    np.testing.assert_allclose(cells[5][0], full, atol=1)
    distances = [np.abs(cell[0] - full).sum() for cell in cells[[0, 4, 5]].astype(float)]
    assert distances[0] > distances[1] > distances[2]
    query = [int(palette(theme).query[i : i + 2], 16) for i in (1, 3, 5)]
    assert cells[2][0].tolist() == query  # the frame
    assert cells[2][len(cells[2]) // 2 + 2 * scale].tolist() == [round(200 * DIMMED)] * 3


def test_no_weight_at_all_is_a_dark_image() -> None:
    patches = Patches(np.full((4, 4, 3), 100, np.uint8), 1, 1, 4, 0, (4, 4))
    drawn = heat_pixels(patches, np.zeros(1, np.float32), "light")
    assert np.unique(drawn).tolist() == [round(100 * DIMMED)]
