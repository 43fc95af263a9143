"""Heads as points: which is which, and which is ringed."""

from __future__ import annotations

import numpy as np

from core.analysis.head_patterns.naming import NAMING, NONE
from core.figures.palette import palette
from core.figures.patterns import pattern_colours
from core.figures.similar_heads import similar_by_pattern

POINTS = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 0.9]])


def test_by_pattern_a_point_carries_its_layer_and_head() -> None:
    colours = palette("dark")
    figure = similar_by_pattern(
        POINTS,
        [4],
        ["none", "first", "none"],
        1,
        {name: f"<{name}>" for name in (*NAMING, NONE)},
        pattern_colours("dark", colours),
        colours,
    )
    points = [trace for trace in figure.data if trace.customdata is not None]
    heads = sorted(tuple(data[:2]) for trace in points for data in trace.customdata)
    assert heads == [(4, 1), (4, 2), (4, 3)]
    at = [(trace.marker.symbol, trace.x[0], trace.y[0]) for trace in figure.data]
    assert ("circle-open", 1.0, 0.5) in at  # the ring
    assert [trace.text for trace in points] == [("F",), ("", "")]
    assert figure.layout.annotations[0].text == "<b>L4 H2</b>"
