"""Pictures from layer to layer hold what they were given; weights as heat on patches."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.layers import norms_by_layer, states_figure
from core.figures.palette import palette
from core.figures.patch_heat import DIMMED, SIDE, heat_pixels
from core.model.trace import Patches

COLOURS = palette("light")


@pytest.mark.parametrize("values", [np.array([[1.0, 10.0], [100.0, 0.0]]), np.zeros((2, 2))])
def test_hidden_states_are_coloured_by_their_logarithm(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    heat = states_figure(values, values, ["input", "after 1"], ["a", "b"], COLOURS).data[0]
    positive = values > 0
    np.testing.assert_allclose(np.asarray(heat.z)[positive], np.log10(values[positive]))
    assert np.isnan(np.asarray(heat.z)[~positive]).all()
    assert np.isfinite([heat.zmin, heat.zmax]).all()


def test_lengths_by_layer_have_a_line_for_the_median_each_odd_patch_and_the_others() -> None:
    patches = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 90.0]])
    odd = np.array([False, False, False, False, True])
    others = {"CLS": np.array([7.0, 8.0])}
    figure = norms_by_layer(patches, odd, others, ["input", "1"], COLOURS)
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert lines["median patch"] == [3, 3]
    assert lines["high-norm patches (1)"] == [5, 90]
    assert lines["CLS"] == [7, 8]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_weight_is_pink_and_the_rest_or_no_weight_at_all_is_dark(theme: str) -> None:
    grey = np.full((8, 12, 3), 200, dtype=np.uint8)
    patches = Patches(grey, rows=2, columns=3, size=4, first=1, given=(8, 12))
    weights = np.array([0, 0, 0, 0, 0.25, 1.0], dtype=np.float32)
    drawn, scale = heat_pixels(patches, weights, theme, {2: palette(theme).query}), SIDE // 8
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
    dark = heat_pixels(patches, np.zeros(6, np.float32), theme)
    assert np.unique(dark).tolist() == [round(200 * DIMMED)]
