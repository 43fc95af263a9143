"""How far heads look, drawn: every head where it belongs, and the baseline."""

from __future__ import annotations

import numpy as np

from core.analysis.layers import Rows
from core.figures.images.distance import distance_figure
from core.figures.palette import palette

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
