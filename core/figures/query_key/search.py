"""The search for a and c in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.analysis.normalization import GridSearch, Regression
from core.analysis.query_key.scaling import HeadScaling
from core.figures.labels import literal
from core.figures.layout import BARE, axis, lay_out
from core.figures.palette import Palette, scale


def surface_figure(search: GridSearch, colours: Palette) -> go.Figure:
    """The correlation for every a and c; a ring marks the best."""
    figure = go.Figure(
        go.Heatmap(
            x=search.c_values,
            y=search.a_values,
            z=search.surface,
            colorscale=scale(colours.sequential),
            reversescale=True,
            colorbar={"title": {"text": "r"}, "thickness": 12},
            hovertemplate="a = %{y:.3g}, c = %{x:.3g}: r = %{z:.6f}<extra></extra>",
        )
    )
    figure.add_scatter(
        x=[search.c],
        y=[search.a],
        hovertemplate="best: a = %{y:.3g}, c = %{x:.3g}<extra></extra>",
        **_open_marker("circle-open", 15, colours.alert, 3),
    )
    return _framed(figure, axis("c", **BARE), axis("a", **BARE), "r for every a and c")


def regression_figure(regression: Regression, title: str, colours: Palette) -> go.Figure:
    """Dot product against cosine distance, a point a pair, with the least-squares line."""
    distances, products = regression.distances, regression.products
    figure = go.Figure(
        go.Scattergl(
            x=distances,
            y=products,
            mode="markers",
            marker={"size": 5, "color": colours.accent, "opacity": 0.6},
            hovertemplate="cosine distance %{x:.3f}<br>dot product %{y:.2f}<extra></extra>",
        )
    )
    if regression.line is not None:
        slope, intercept = regression.line
        ends = np.array([distances.min(), distances.max()])
        figure.add_scatter(
            x=ends,
            y=slope * ends + intercept,
            mode="lines",
            line={"color": colours.alert, "width": 2.5},
            hovertemplate=f"slope {slope:.4g}<extra></extra>",
        )
    distance = "cosine distance of query and key of the same token"
    return _framed(figure, axis(distance), axis("dot product"), title)


def curve_figure(
    scaling: HeadScaling,
    c_values: Floats,
    published: Sequence[float],
    colours: Palette,
) -> go.Figure:
    """The correlation over c, its optimum, the published grid."""
    line = {"color": colours.accent, "width": 2.5}
    traces = [
        ("correlation", "", c_values, scaling.curve, {"mode": "lines", "line": line}),
        (
            "published grid",
            "published grid, ",
            list(published),
            np.interp(np.log(published), np.log(c_values), scaling.curve),
            _open_marker("line-ns-open", 13, colours.ink, 2),
        ),
        (
            "chosen c",
            "chosen, ",
            [scaling.c],
            [scaling.correlation],
            _open_marker("circle-open", 14, colours.alert, 3),
        ),
    ]
    figure = go.Figure()
    for name, hover, x, y, look in traces:
        template = f"{hover}c = %{{x:.3g}}: %{{y:.4f}}<extra></extra>"
        figure.add_scatter(x=x, y=y, name=name, hovertemplate=template, **look)
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    across = axis("c", type="log", tickvals=ticks, zeroline=False)
    legend = {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0}
    _framed(figure, across, axis("correlation of distance and scores"))
    return lay_out(figure, showlegend=True, height=380, legend=legend)


def _open_marker(symbol: str, size: int, colour: str, width: int) -> dict[str, Any]:
    """Arguments of a trace of outlined markers, `size` and `width` in pixels."""
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": width}}
    return {"mode": "markers", "marker": marker}


def _framed(
    figure: go.Figure, xaxis: dict[str, Any], yaxis: dict[str, Any], title: str = ""
) -> go.Figure:
    return lay_out(
        figure,
        xaxis=xaxis,
        yaxis=yaxis,
        height=340,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 36 if title else 8, "b": 8},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.97},
    )
