"""High-norm patches: how long their states and those of other tokens are by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools, Floats
from core.figures.layout import axis, lay_out
from core.figures.palette import Palette
from core.vocabulary import percent

_HEIGHT = 330  # pixels
_MARGIN = {"l": 8, "r": 8, "t": 34, "b": 8}
_BAND = (10, 90)  # percentiles of the patches


def norms_by_layer(
    patches: Floats,
    odd: Bools,
    others: dict[str, Floats],
    rows: Sequence[str],
    colours: Palette,
) -> go.Figure:
    """Lengths of states from layer to layer: of most patches, of each odd one, of other tokens.

    `patches` are (layer + 1, patch), `odd` of these (patch,); `others` (layer + 1,) by what they
    are called; `rows` name the layers.
    """
    names = list(rows)
    low, high = np.percentile(patches, _BAND, axis=1)
    figure = go.Figure()
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=names, y=low, showlegend=False, **edge)
    band = f"{percent(0.8)} of the {patches.shape[1]:,} patches"
    figure.add_scatter(x=names, y=high, name=band, fill="tonexty", fillcolor=colours.line, **edge)
    median = np.median(patches, axis=1)
    _add_line(figure, names, median, "median patch", {"color": colours.ink, "width": 2})
    for index, line in enumerate(patches[:, odd].T):
        shown = f"high-norm patches ({int(odd.sum())})" if index == 0 else ""
        _add_line(
            figure, names, line, shown, {"color": colours.alert, "width": 1.5}, "high-norm patch"
        )
    dashes = ("dash", "dot", "dashdot")
    for index, (name, line) in enumerate(others.items()):
        look = {"color": colours.accent, "width": 2, "dash": dashes[index % len(dashes)]}
        _add_line(figure, names, line, name, look)
    return lay_out(
        figure,
        xaxis=axis("after layer", type="category", showgrid=False),
        yaxis={"rangemode": "tozero"},
        height=_HEIGHT,
        margin=_MARGIN,
        title={"text": "Length of the state by layer", "x": 0, "font": {"size": 15}},
        showlegend=True,
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "title": {"text": ""}},
    )


def _add_line(
    figure: go.Figure,
    x: Sequence[str],
    y: Floats,
    name: str,
    look: dict[str, Any],
    hover: str = "",
) -> None:
    """A line; one without a `name` is not in the legend."""
    figure.add_scatter(
        x=list(x),
        y=y,
        name=name,
        showlegend=bool(name),
        mode="lines+markers",
        marker={"size": 5, "color": look["color"]},
        line=look,
        hovertemplate=f"{hover or name}, %{{x}}: %{{y:.2f}}<extra></extra>",
    )
