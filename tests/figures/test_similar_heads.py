"""Heads as points: which is which, and which is ringed."""

from __future__ import annotations

import numpy as np

from core.analysis.head_patterns.naming import NAMING, NONE
from core.figures.palette import palette
from core.figures.patterns import pattern_colours
from core.figures.similar_heads import similar_by_layer, similar_by_pattern

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
    assert (("line-ew",), 1.0, 0.5) in at  # the icon of the first token
    assert figure.layout.annotations[0].text == "<b>L4 H2</b>"


def test_by_layer_a_point_carries_its_layer_and_head_and_their_name() -> None:
    points = np.vstack([POINTS, -POINTS])
    ringed, heads = similar_by_layer(points, (3, 6), 4, palette("light")).data
    assert [list(data) for data in heads.customdata[2:4]] == [[3, 3, "L3 H3"], [6, 1, "L6 H1"]]
    assert list(heads.marker.color) == [3, 3, 3, 6, 6, 6]
    assert (ringed.x[0], ringed.y[0]) == (-1.0, -0.5)


def test_names_cover_neither_names_nor_points() -> None:
    crowd = np.random.default_rng(5).normal(size=(72, 2))
    figure = similar_by_layer(crowd, range(1, 7), 40, palette("light"))
    heads = figure.data[1]
    named = [i for i, text in enumerate(heads.text) if text]
    assert 10 < len(named) < 60
    pixels = crowd * 250 / np.ptp(crowd, axis=0).max()
    for i in named:
        others = np.delete(pixels[named], named.index(i), axis=0)
        assert not (np.abs(others - pixels[i]) < (40, 13)).all(axis=1).any()
        assert not (np.abs(pixels - pixels[i] - (0, 14)) < (25, 12)).all(axis=1).any()
    assert len(heads.customdata) == 72
