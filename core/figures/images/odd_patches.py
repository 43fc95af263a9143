"""Pictures of high-norm patches: which they are on the image, and how long states are by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats
from core.figures.palette import Palette
from core.vocabulary import percent

_SIDE = 330  # pixels of a picture
_MARGIN = {"l": 8, "r": 8, "t": 34, "b": 8}
_BAND = (10, 90)  # percentiles of the patches


def patch_picture(
    pixels: NDArray[np.uint8], norms: Floats, odd: Bools, title: str, colours: Palette
) -> go.Figure:
    """An image with frames around its high-norm patches, and their lengths under the pointer.

    `pixels` are (height, width, 3); `norms` and `odd` (row, column) of the grid over it.
    """
    rows, columns = norms.shape
    figure = go.Figure()
    figure.add_heatmap(
        z=norms,
        opacity=0,  # it says which patch is under the pointer
        customdata=np.stack(np.meshgrid(*map(np.arange, norms.shape), indexing="ij"), axis=-1) + 1,
        showscale=False,
        hovertemplate="row %{customdata[0]}, column %{customdata[1]}: length %{z:.2f}"
        "<extra></extra>",
    )
    figure.add_layout_image(_below(pixels, rows, columns))
    for row, column in np.argwhere(odd).tolist():
        figure.add_shape(**_frame(row, column, colours.paper, 5))
        figure.add_shape(**_frame(row, column, colours.alert, 3))
    axis: dict[str, Any] = {"showgrid": False, "zeroline": False, "visible": False}
    figure.update_xaxes(range=[-0.5, columns - 0.5], constrain="domain", **axis)
    figure.update_yaxes(
        range=[rows - 0.5, -0.5], constrain="domain", scaleanchor="x", scaleratio=1, **axis
    )
    figure.update_layout(height=_SIDE, margin=_MARGIN, title=_title(title), dragmode=False)
    return figure


def _below(pixels: NDArray[np.uint8], rows: int, columns: int) -> dict[str, Any]:
    """The image, behind the squares of its patches."""
    from PIL import Image

    place = {"x": -0.5, "y": -0.5, "sizex": columns, "sizey": rows, "xref": "x", "yref": "y"}
    look = {"layer": "below", "sizing": "stretch", "xanchor": "left", "yanchor": "top"}
    return {"source": Image.fromarray(pixels), **place, **look}


def _frame(row: int, column: int, colour: str, width: int) -> dict[str, Any]:
    corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"color": colour, "width": width}, **corners}


def _title(text: str) -> dict[str, Any]:
    return {"text": text, "x": 0, "y": 0.99, "yanchor": "top", "font": {"size": 15}}


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
    figure.update_xaxes(title={"text": "after layer"}, type="category", showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(
        height=_SIDE,
        margin=_MARGIN,
        title=_title("Length of the state by layer"),
        showlegend=True,
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "title": {"text": ""}},
    )
    return figure


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
