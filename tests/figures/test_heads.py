"""Pictures of heads: what stands where, in which colour, and what is left empty."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.layers import LayerRows, place_layers
from core.figures.heads import class_map, dots_by_layer, head_map, head_scatter
from core.figures.palette import palette
from core.figures.patterns import ScoreBar, feature_looks, pattern_looks, score_bars
from tests.analysis.traces import HYBRID, Stack

NAMES = {name: f"<{name}>" for name in (*NAMING, NONE, TOO_SHORT)}
LIGHT = palette("light")
LOOKS = pattern_looks(NAMES, "light", LIGHT)
ROWS = LayerRows((3, 5), (1.0, 2.0), (), 2.5)
PIXELS = np.array([[10.0, 20.0, 30.0], [np.nan, 40.0, 44.0]])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_class_has_a_letter_and_a_colour_of_its_own_not_that_of_queries_or_keys(
    theme: str,
) -> None:
    colours = palette(theme)
    for looks in (pattern_looks(NAMES, theme, colours), feature_looks(colours)):
        classes = [look for name, look in looks.items() if name not in (NONE, TOO_SHORT)]
        letters, shades = ([look[part] for look in classes] for part in (1, 2))
        assert len(set(filter(None, letters))) == len(letters)
        assert len({*shades, looks[NONE].colour, colours.query, colours.key}) == len(shades) + 3
        assert looks[NONE].letter == ""
    assert LOOKS[TOO_SHORT][1:] == LOOKS[NONE][1:]  # no pattern


def test_a_head_stands_at_its_layer_and_number_in_the_colour_of_its_class() -> None:
    patterns = np.array([["first", "none", "first"], ["none", "broad", "self"]])
    confidence = np.array([[0.1, np.nan, 0.3], [np.nan, 0.5, 0.6]])
    figure = class_map(patterns, confidence, place_layers(Stack.of(2)), LOOKS, LIGHT, (1, 0))
    names = ["I &lt;self&gt; (1)", "F &lt;first&gt; (2)", "B &lt;broad&gt; (1)", "&lt;none&gt; (2)"]
    # Escaped, as plotly reads a legend as HTML
    assert [trace.name for trace in figure.data] == names
    first, none = figure.data[1], figure.data[3]
    assert (first.marker.color, set(first.text)) == (LOOKS["first"].colour, {"F"})
    assert set(none.text) == {""}
    assert (list(first.x), list(first.base + first.y / 2)) == ([1, 3], [1, 1])
    assert first.customdata.tolist() == [[1, 1, 0.1], [1, 3, 0.3]]
    framed = figure.layout.shapes[-1]
    assert (framed.x0 + framed.x1, framed.y0 + framed.y1) == (2, 4)


@pytest.mark.parametrize("reverse", [False, True])
def test_squares_have_colours_of_the_bar_beside_them_and_no_numbers(*, reverse: bool) -> None:
    values = np.array([[-3.0, -2.0, -0.7], [0.0, 1.3, 2.0]])
    rows = place_layers(Stack.of(2))
    figure = head_map(values, rows, "x", LIGHT, bounds=(-2, 2), signed=True, reverse=reverse)
    marker = figure.data[0].marker
    assert (marker.cmin, marker.cmax) == (-2, 2)
    places = np.clip(values.ravel() / 4 + 0.5, 0, 1)
    expected = sample_colorscale(list(map(list, marker.colorscale)), places, colortype="tuple")
    drawn = [list(bytes.fromhex(colour[1:])) for colour in marker.color]
    np.testing.assert_allclose(drawn, np.array(expected) * 255, atol=0.51)
    ends = LIGHT.diverging[:: -1 if reverse else 1]
    assert (marker.color[1], marker.color[5]) == (ends[0].lower(), ends[-1].lower())


def test_layers_that_do_not_attend_are_thin_rows_and_those_that_do_keep_their_numbers() -> None:
    values, rows = np.array([[0.1, np.nan], [0.3, 0.4]]), place_layers(HYBRID)
    figure = head_map(values, rows, "x", LIGHT, chosen=(1, 0))
    crosses, cells = figure.data
    assert (cells.base + cells.y / 2).tolist() == [1.5, 3, 3]
    assert cells.customdata.tolist() == [[3, 1, 0.1], [6, 1, 0.3], [6, 2, 0.4]]
    assert (crosses.y.tolist(), crosses.customdata.tolist()) == ([1.5], [[3, 2]])
    axis = figure.layout.yaxis
    names = [re.sub("<.*?>", "", text) for text in axis.ticktext]
    named = dict(zip(axis.tickvals, names, strict=True))
    assert named == {0.75: "1–2", 1.5: "3", 2.25: "4–5", 3: "6", 3.75: "7–8"}
    *bands, framed = figure.layout.shapes
    assert [(band.y0 + band.y1) / 2 for band in bands] == [0.75, 2.25, 3.75]
    assert (framed.x0 + framed.x1, framed.y0 + framed.y1) == (2, 6)


def test_a_score_that_is_not_defined_is_a_dash_and_no_bar() -> None:
    bars = [
        ScoreBar("one", 0.25, 0.1, 0.5, low=0.2, high=0.35),
        ScoreBar("two", np.nan, np.nan, np.nan),
    ]
    bar, numbers, baseline, limit = score_bars(bars, LIGHT).data
    assert [text.strip() for text in numbers.text] == ["0.25", "–"]
    assert np.isnan([bar.x[1], baseline.x[1]]).all()
    assert (baseline.x[0], limit.x[0]) == (0.1, 0.5)
    assert list(bar.error_x.array) == pytest.approx([0.1, 0])
    assert list(bar.error_x.arrayminus) == pytest.approx([0.05, 0])


def test_a_point_carries_its_layer_and_head_and_the_chosen_one_is_ringed() -> None:
    points, classes = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 0.9]]), ["none", "first", "none"]
    figure = head_scatter(points, [4], classes, 1, LOOKS, LIGHT)
    drawn = [trace for trace in figure.data if trace.customdata is not None]
    heads = sorted(tuple(data[:2]) for trace in drawn for data in trace.customdata)
    assert heads == [(4, 1), (4, 2), (4, 3)]
    places = [(trace.marker.symbol, trace.x[0], trace.y[0]) for trace in figure.data]
    assert ("circle-open", 1.0, 0.5) in places  # the ring
    assert [trace.text for trace in drawn] == [("F",), ("", "")]
    assert figure.layout.annotations[0].text == "<b>L4 H2</b>"
    assert figure.layout.yaxis.scaleanchor == "x"
    points[1, 1] = np.nan  # not measured: no point, no ring, and axes that are two measures
    figure = head_scatter(points, [4], classes, 1, LOOKS, LIGHT, ("<a>", "b"))
    assert [list(trace.y) for trace in figure.data] == [[0.0, 0.9]]
    assert not figure.layout.annotations
    assert figure.layout.xaxis.title.text == "&lt;a&gt;"
    assert figure.layout.yaxis.scaleanchor is None


def test_every_head_has_a_dot_in_its_layer_that_names_it() -> None:
    figure = dots_by_layer(PIXELS, 62.5, ROWS, "distance", "px", LIGHT)
    dots, means, baseline = figure.data
    assert [(*each,) for each in dots.customdata] == [*product((3, 5), (1, 2, 3))]
    np.testing.assert_allclose(dots.y, PIXELS.ravel())
    assert list(np.round(dots.x)) == [1, 1, 1, 2, 2, 2]
    assert list(dots.x[:3]) == sorted(dots.x[:3])
    np.testing.assert_allclose(means.y, [20, 42])
    assert list(baseline.y) == [62.5, 62.5]
    assert "62.5 px" in baseline.name
    low, high = figure.layout.yaxis.range
    assert low == 0
    assert high > 62.5
