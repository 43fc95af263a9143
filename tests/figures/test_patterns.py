"""Pictures of patterns: what stands where, and what is left empty."""

from __future__ import annotations

import re

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.layers import rows_of
from core.figures.head_map import frame, head_map
from core.figures.palette import palette
from core.figures.patterns import (
    LETTERS,
    Bar,
    pattern_colours,
    pattern_map,
    score_bars,
)
from tests.analysis.traces import HYBRID, Stack

NAMES = {name: f"<{name}>" for name in (*NAMING, NONE, TOO_SHORT)}


def test_every_pattern_has_a_letter_of_its_own() -> None:
    letters = [LETTERS[name] for name in NAMING]
    assert len(set(filter(None, letters))) == len(letters)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_pattern_has_a_colour_of_its_own_that_is_not_that_of_queries_or_keys(
    theme: str,
) -> None:
    colours = palette(theme)
    shades = pattern_colours(theme, colours)
    assert set(shades) == set(NAMES)
    assert shades.pop(TOO_SHORT) == shades[NONE]  # no pattern
    assert len({*shades.values(), colours.query, colours.key}) == len(shades) + 2


def test_a_head_stands_at_its_layer_and_number_in_the_colour_of_its_pattern() -> None:
    patterns = np.array([["first", "none", "first"], ["none", "broad", "self"]])
    confidence = np.array([[0.1, np.nan, 0.3], [np.nan, 0.5, 0.6]])
    colours, rows = palette("light"), rows_of(Stack.of(2))
    shades = pattern_colours("light", colours)
    figure = pattern_map(patterns, confidence, rows, NAMES, shades, colours)
    names = ["I &lt;self&gt; (1)", "F &lt;first&gt; (2)", "B &lt;broad&gt; (1)", "&lt;none&gt; (2)"]
    # Escaped, as plotly reads a legend as HTML
    assert [trace.name for trace in figure.data] == names
    first = figure.data[1]
    assert (first.marker.color, set(first.text)) == (shades["first"], {"F"})
    assert (list(first.x), list(first.base + first.y / 2)) == ([1, 3], [1, 1])
    assert first.customdata.tolist() == [[1, 1, 0.1], [1, 3, 0.3]]


@pytest.mark.parametrize("reverse", [False, True])
def test_squares_have_colours_of_the_bar_beside_them_and_no_numbers(*, reverse: bool) -> None:
    values = np.array([[-3.0, -2.0, -0.7], [0.0, 1.3, 2.0]])
    rows, colours = rows_of(Stack.of(2)), palette("light")
    figure = head_map(values, rows, "x", colours, bounds=(-2, 2), signed=True, reverse=reverse)
    marker = figure.data[0].marker
    assert (marker.cmin, marker.cmax) == (-2, 2)
    places = np.clip(values.ravel() / 4 + 0.5, 0, 1)
    expected = sample_colorscale(list(map(list, marker.colorscale)), places, colortype="tuple")
    drawn = [list(bytes.fromhex(colour[1:])) for colour in marker.color]
    np.testing.assert_allclose(drawn, np.array(expected) * 255, atol=0.51)
    ends = colours.diverging[:: -1 if reverse else 1]
    assert (marker.color[1], marker.color[5]) == (ends[0].lower(), ends[-1].lower())


def test_layers_that_do_not_attend_are_thin_rows_and_those_that_do_keep_their_numbers() -> None:
    figure = head_map(np.array([[0.1, np.nan], [0.3, 0.4]]), rows_of(HYBRID), "x", palette("light"))
    crosses, cells = figure.data
    assert (cells.base + cells.y / 2).tolist() == [1.5, 3, 3]
    assert cells.customdata.tolist() == [[3, 1, 0.1], [6, 1, 0.3], [6, 2, 0.4]]
    assert (crosses.y.tolist(), crosses.customdata.tolist()) == ([1.5], [[3, 2]])
    axis = figure.layout.yaxis
    names = [re.sub("<.*?>", "", text) for text in axis.ticktext]
    named = dict(zip(axis.tickvals, names, strict=True))
    assert named == {0.75: "1–2", 1.5: "3", 2.25: "4–5", 3: "6", 3.75: "7–8"}
    assert [(band.y0 + band.y1) / 2 for band in figure.layout.shapes] == [0.75, 2.25, 3.75]
    frame(figure, rows_of(HYBRID), (1, 0), palette("light"))
    framed = figure.layout.shapes[-1]
    assert (framed.x0 + framed.x1, framed.y0 + framed.y1) == (2, 6)


def test_a_score_that_is_not_defined_is_a_dash_and_no_bar() -> None:
    bars = [
        Bar("one", 0.25, 0.1, 0.5, low=0.2, high=0.35),
        Bar("two", float("nan"), float("nan"), float("nan")),
    ]
    figure = score_bars(bars, palette("light"))
    bar, numbers, baseline, limit = figure.data
    assert [text.strip() for text in numbers.text] == ["0.25", "–"]
    assert np.isnan(bar.x[1])
    assert np.isnan(baseline.x[1])
    assert (baseline.x[0], limit.x[0]) == (0.1, 0.5)
    assert list(bar.error_x.array) == pytest.approx([0.1, 0])
    assert list(bar.error_x.arrayminus) == pytest.approx([0.05, 0])
