"""Charts for a projector: what is in pixels grows, and what is not stays."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.figures.enlarged import enlarged


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
