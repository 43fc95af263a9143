"""The regression as the notebook draws it, and points in space."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.analysis.images.points import Tints
from core.analysis.normalization import FittedLine, Regression
from core.analysis.projections.joint_embedding import Embedding
from core.analysis.query_key.clouds import strongest_lines
from core.figures.palette import palette
from core.figures.query_key import regression_figure, regression_svg, space_figure

LIGHT = palette("light")
TITLE = "Layer 1: a = −0.5, c = −2, |r| = 0.68453"
REGRESSION = Regression(np.array([0.2, 0.6, 1.0]), np.array([9.0, 5.0, 1.0]), FittedLine(-10, 11))


def test_cosine_distance_runs_across_and_dot_product_up_in_the_chart_and_the_svg() -> None:
    """Points on the line: the ends of the line are the first and the last of them."""
    figure, svg = regression_figure(REGRESSION, TITLE, LIGHT), regression_svg(REGRESSION, TITLE)
    points, line = figure.data
    assert (list(points.x), list(points.y)) == ([0.2, 0.6, 1.0], [9.0, 5.0, 1.0])
    assert [*line.x, *line.y] == pytest.approx([0.2, 1.0, 9.0, 1.0])
    assert figure.layout.xaxis.title.text.startswith("cosine distance")
    assert (figure.layout.yaxis.title.text, figure.layout.title.text) == ("dot product", TITLE)
    (drawn,) = re.findall(r'class="points" d="([^"]*)"', svg)
    (ends,) = re.findall(r'class="line" d="M([\d. ]+)L([\d. ]+)"', svg)
    places = re.findall(r"M([\d. ]+)h0", drawn)
    assert (len(places), (places[0], places[-1])) == (3, ends)
    (left, top), (right, bottom) = ([float(each) for each in place.split()] for place in ends)
    assert left < right
    assert top < bottom  # down the screen: fewer products at a larger distance
    assert all(text in svg for text in (TITLE, ">cosine distance<", ">dot product<"))
    still = Regression(np.array([0.5, 0.5]), np.array([1.0, 2.0]), None)  # no line
    assert len(regression_figure(still, TITLE, LIGHT).data) == 1
    assert 'class="line"' not in regression_svg(still, TITLE)


def test_in_space_hidden_points_and_their_lines_are_left_out_and_tokens_are_no_markup() -> None:
    queries, keys = np.arange(18.0).reshape(2, 3, 3)
    lines = strongest_lines(np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0.7, 0.3]]))
    labels = ["<b>it</b>", "book", "."], ["it", "book", "."]
    tints = Tints("sequential", np.array([0, 0.5, np.nan, 0, 1, 1]), ("first", "last"))
    figure = space_figure(
        Embedding(queries, keys), lines, tints, labels, ([0, 1], [0, 1]), ["x"] * 3, "L1 H1", LIGHT
    )
    paths, discs, diamonds = figure.data
    assert np.isfinite(paths.x).sum() == 2 * 2  # the third query is hidden
    assert (list(discs.x), list(diamonds.z)) == ([0.0, 3.0], [11.0, 14.0])
    assert list(discs.text) == ["&lt;b&gt;it&lt;/b&gt;", "book"]
    assert len({*discs.marker.color, *diamonds.marker.color}) == 4
