"""Figures hold the numbers and names they were given, no others, and grow for a projector."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.enlarged import enlarged
from core.figures.heatmap import colour_limit, heatmap_figure, root_scale
from core.figures.layout import literal
from core.figures.palette import palette

LIGHT = palette("light")
VALUES = np.array([[0.25, 0.75], [0.5, 0.5]], dtype=np.float32)


def test_a_heatmap_holds_the_matrix_with_queries_down() -> None:
    heat = heatmap_figure(VALUES, ["it", "it₂"], "L1 H2", LIGHT).data[0]
    np.testing.assert_array_equal(heat.z, VALUES)
    assert list(heat.y) == ["it", "it₂"]
    assert (heat.zmin, heat.zmax) == (0.0, 0.75)
    assert "L1 H2" in heat.hovertemplate


def test_scores_are_coloured_around_zero_and_masked_pairs_are_hatched_with_a_dash() -> None:
    scores = np.array([[2.0, -np.inf], [-3.0, 1.0]], dtype=np.float32)
    figure = heatmap_figure(scores, ["a", "b"], "L1 H1", LIGHT, signed=True)
    heat, dashes = figure.data
    assert (heat.zmin, heat.zmax) == (-3.0, 3.0)
    assert np.isnan(heat.z[0, 1])
    assert dashes.text.tolist() == [["", "–"], ["", ""]]
    assert np.isfinite(dashes.z).tolist() == [[False, True], [False, False]]
    assert "not permitted" in dashes.hovertemplate
    assert figure.layout.images[0].source.startswith("data:image/svg+xml")
    assert len(heatmap_figure(VALUES, ["a", "b"], "L1 H1", LIGHT).data) == 1


def test_the_colour_scale_ends_where_it_says_and_has_its_middle_at_a_quarter() -> None:
    assert [share for share, _ in root_scale(("#000000", "#777777", "#ffffff"))] == [0, 0.25, 1]
    for value, limit in ((0.2, 0.2), (0.0, 1.0), (-np.inf, 1.0)):
        assert colour_limit(np.array([[value]], np.float32)) == pytest.approx(limit)


@pytest.mark.parametrize("text", ["<b>x</b>", "a & b", "&lt;", "<a href='x'>y</a>", "$x$"])
def test_labels_hold_no_tag_entity_or_formula_of_their_own(text: str) -> None:
    shown = literal(text)
    assert "<" not in shown
    assert "$x$" not in shown
    assert html.unescape(shown).replace("\u200b", "") == text


def test_sizes_in_pixels_grow_with_letters_that_name_none_and_numbers_stay() -> None:
    marker = {"size": np.array([4, 6]), "color": [0.1, 0.2], "colorbar": {"thickness": 12}}
    texts: dict[str, object] = {"text": ["a", "b"], "textfont": {"size": 10}}
    before = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], marker=marker, line={"width": 2}, **texts))
    ticks = {"tickvals": [1], "ticktext": ['<span style="font-size:12px">one</span>']}
    before.update_layout(height=300, margin={"l": 8, "r": 4}, xaxis=ticks, legend_title_text="a")
    after = enlarged(before, 2)
    (trace,), layout = after.data, after.layout
    assert (trace.textfont.size, trace.line.width, trace.marker.colorbar.thickness) == (20, 4, 24)
    assert list(trace.marker.size) == [8, 12]
    assert (list(trace.x), list(trace.y), list(trace.marker.color)) == ([1, 2], [3, 4], [0.1, 0.2])
    assert (layout.height, layout.margin.l, layout.margin.r) == (300, 16, 8)
    assert layout.xaxis.ticktext == ('<span style="font-size:24px">one</span>',)
    assert layout.font.size == layout.legend.font.size == 24
    assert layout.xaxis.tickfont.size == layout.xaxis.title.font.size == 24
    assert before.layout.height == 300
    before.update_layout(height=900)  # a high chart still fits in the window
    assert enlarged(before, 2).layout.height == 430
