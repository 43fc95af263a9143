"""Charts for a projector: what is in pixels grows, and what is not stays."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.figures.enlarged import enlarged


def chart() -> go.Figure:
    figure = go.Figure(
        go.Scatter(
            x=[1, 2],
            y=[3, 4],
            text=["a", "b"],
            textfont={"size": 10},
            marker={"size": np.array([4, 6]), "color": [0.1, 0.2], "colorbar": {"thickness": 12}},
            line={"width": 2},
        )
    )
    ticks = {"tickvals": [1], "ticktext": ['<span style="font-size:12px">one</span>']}
    figure.update_layout(height=300, margin={"l": 8, "r": 4}, xaxis=ticks, legend_title_text="a")
    return figure


def test_sizes_in_pixels_grow_and_numbers_stay() -> None:
    before, after = chart(), enlarged(chart(), 2)
    (trace,) = after.data
    assert (trace.textfont.size, trace.line.width, trace.marker.colorbar.thickness) == (20, 4, 24)
    assert list(trace.marker.size) == [8, 12]
    assert (list(trace.x), list(trace.y), list(trace.marker.color)) == ([1, 2], [3, 4], [0.1, 0.2])
    assert (after.layout.height, after.layout.margin.l, after.layout.margin.r) == (600, 16, 8)
    assert after.layout.xaxis.ticktext == ('<span style="font-size:24px">one</span>',)
    assert before.layout.height == 300


def test_letters_that_name_no_size_grow_too() -> None:
    layout = enlarged(chart(), 2).layout
    assert layout.font.size == layout.legend.font.size == 24
    assert layout.xaxis.tickfont.size == layout.xaxis.title.font.size == 24


def test_a_high_chart_still_fits_in_the_window() -> None:
    figure = chart().update_layout(height=900)
    assert enlarged(figure, 2).layout.height == 860
