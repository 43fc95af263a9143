"""The regression as the notebook draws it, and distance against dot product."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from core.analysis.query_key.layer_search import FittedLine, Regression
from core.analysis.query_key.pair_scatter import Density, PairScatter
from core.figures.palette import palette
from core.figures.query_key.pair_scatter import pair_scatter_figure
from core.figures.query_key.regression_svg import regression_svg
from core.figures.query_key.search import regression_figure

LIGHT = palette("light")
TITLE = "Layer 1: a = −0.5, c = −2, |r| = 0.68453"
REGRESSION = Regression(np.array([0.2, 0.6, 1.0]), np.array([9.0, 5.0, 1.0]), FittedLine(-10, 11))
PAIRS = PairScatter(
    queries=np.array([0, 0, 1, 1]),
    keys=np.array([0, 1, 0, 1]),
    scores=np.array([0.0, 2.0, 3.0, 9.0]),
    distances=np.array([4.0, 2.0, 5.0, 1.0]),
    attention=np.array([0.1, 0.9, 0.0, 1.0]),
    x=np.array([-1.0, 1.0, -3.0, 3.0]),
    y=np.array([1.0, -1.0, 2.0, -2.0]),
    strongest=np.array([False, True, False, True]),
    line=FittedLine(-0.7, 0.0),
    correlation=-0.99,
    left_out=0,
)
LABELS = ["<b>it</b>", "book"]
AXES = ("dot product", "distance")


def test_cosine_distance_runs_across_and_dot_product_up() -> None:
    figure = regression_figure(REGRESSION, TITLE, LIGHT)
    points, line = figure.data
    assert list(points.x) == [0.2, 0.6, 1.0]
    assert list(points.y) == [9.0, 5.0, 1.0]
    assert list(line.x) == [0.2, 1.0]
    assert list(line.y) == pytest.approx([9.0, 1.0])
    assert figure.layout.xaxis.title.text.startswith("cosine distance")
    assert figure.layout.yaxis.title.text == "dot product"
    assert figure.layout.title.text == TITLE


def test_the_svg_draws_every_pair_and_its_line_through_them() -> None:
    """Points on the line: the ends of the line are the first and the last of them."""
    svg = regression_svg(REGRESSION, TITLE)
    (points,) = re.findall(r'class="points" d="([^"]*)"', svg)
    (line,) = re.findall(r'class="line" d="M([\d. ]+)L([\d. ]+)"', svg)
    places = re.findall(r"M([\d. ]+)h0", points)
    assert len(places) == 3
    assert (places[0], places[-1]) == line
    (left, top), (right, bottom) = ([float(each) for each in place.split()] for place in line)
    assert left < right
    assert top < bottom  # down the screen: fewer products at a larger distance
    assert TITLE in svg
    assert ">cosine distance<" in svg
    assert ">dot product<" in svg


def test_what_does_not_vary_has_no_line() -> None:
    still = Regression(np.array([0.5, 0.5]), np.array([1.0, 2.0]), None)
    assert len(regression_figure(still, TITLE, LIGHT).data) == 1
    assert 'class="line"' not in regression_svg(still, TITLE)


def test_every_point_and_the_ring_carry_a_query_and_a_key_from_one() -> None:
    figure = pair_scatter_figure(PAIRS, LABELS, AXES, LIGHT, picked=2)
    weak, strong, line, ring = figure.data
    assert list(weak.customdata) == [[1, 1], [2, 1]]
    assert list(strong.customdata) == [[1, 2], [2, 2]]
    assert (list(strong.x), list(strong.y)) == ([1.0, 3.0], [-1.0, -2.0])
    assert list(line.x) == [-3.0, 3.0]
    assert list(line.y) == pytest.approx([2.1, -2.1])
    assert (list(ring.x), list(ring.y), list(ring.customdata)) == ([-3.0], [2.0], [[2, 1]])
    assert "<b>" not in json.dumps(figure.to_plotly_json(), default=list)


def test_a_density_takes_the_place_of_the_other_pairs_alone() -> None:
    density = Density(
        np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([-3, 0, 3]), np.array([-2, 0, 2])
    )
    figure = pair_scatter_figure(PAIRS, LABELS, AXES, LIGHT, density=density)
    heat, strong, _ = figure.data
    assert (heat.type, strong.type) == ("heatmap", "scatter")
    assert np.isnan(heat.z[0][1])  # where nothing lies nothing is painted
    assert heat.z[0][0] > heat.z[1][0]
    assert list(strong.customdata) == [[1, 2], [2, 2]]
