"""Pictures of images: how far heads look, what they follow, high norms, and heat on patches."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.layers import Rows
from core.figures.images.distance import distance_figure
from core.figures.images.following import follow_map
from core.figures.images.odd_patches import norms_by_layer
from core.figures.images.patch_heat import DIMMED, SIDE, heat_pixels
from core.figures.palette import palette
from core.model.trace import Patches

ROWS = Rows((3, 5), (1.0, 2.0), (), 2.5)
PIXELS = np.array([[10.0, 20.0, 30.0], [np.nan, 40.0, 44.0]])


def test_every_head_has_a_dot_in_its_layer_that_names_it() -> None:
    dots, means, baseline = distance_figure(PIXELS, 37.5, ROWS, palette("light")).data
    assert [list(each) for each in dots.customdata] == [
        [number, head] for number in (3, 5) for head in (1, 2, 3)
    ]
    np.testing.assert_allclose(dots.y, PIXELS.ravel())
    assert list(np.round(dots.x)) == [1, 1, 1, 2, 2, 2]
    assert list(dots.x[:3]) == sorted(dots.x[:3])
    np.testing.assert_allclose(means.y, [20, 42])
    assert list(baseline.y) == [37.5, 37.5]
    assert "37.5 px" in baseline.name


def test_the_axis_begins_at_zero_and_holds_the_baseline() -> None:
    low, high = distance_figure(PIXELS, 60, ROWS, palette("dark")).layout.yaxis.range
    assert low == 0
    assert high > 60


def test_each_head_is_one_square_of_its_class_with_its_number() -> None:
    classes = np.array([["hue", "none"], ["place", "hue"]])
    strengths = np.array([[0.5, 0.1], [0.9, 0.4]])
    rows = Rows((3, 7), (1.0, 2.5), (), 2.5)
    figure = follow_map(classes, strengths, rows, palette("light"))
    hue, place, none = figure.data
    names = ["H hue (2)", "P place (1)", "none of these (1)"]
    assert [trace.name for trace in figure.data] == names
    np.testing.assert_allclose(hue.customdata, [[3, 1, 0.5], [7, 2, 0.4]])
    assert list(hue.base + hue.y / 2) == [1.0, 2.5]
    assert (set(hue.text), set(none.text)) == ({"H"}, {""})
    assert "correlation" in hue.hovertemplate
    colours = {trace.marker.color for trace in (hue, place, none)}
    assert len(colours) == 3
    assert not colours & {palette("light").query, palette("light").key}


def test_lengths_by_layer_have_a_line_for_the_median_each_odd_patch_and_the_others() -> None:
    patches = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 90.0]])
    odd = np.array([False, False, False, False, True])
    others = {"CLS": np.array([7.0, 8.0])}
    figure = norms_by_layer(patches, odd, others, ["input", "1"], palette("light"))
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert lines["median patch"] == [3, 3]
    assert lines["high-norm patches (1)"] == [5, 90]
    assert lines["CLS"] == [7, 8]


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
