"""The map of what heads follow: a square for each head, by class, that a click can open."""

from __future__ import annotations

import numpy as np

from core.analysis.layers import Rows
from core.figures.images.following import follow_map
from core.figures.palette import palette


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
