"""Figures of an atlas: the map of heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.figures.palette import scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.figures.palette import Palette

_FEW_HEADS = 160  # more points than these have no room for their names


def heads_figure(
    points: NDArray[np.float64], heads: int, chosen: int, colours: Palette
) -> go.Figure:
    """Heads as points coloured by layer; a clicked point's customdata is its number.

    Parameters
    ----------
    points : (head of all layers, 2).
    heads : in a layer.
    chosen : the head that is ringed.
    """
    index = np.arange(len(points))
    layers, numbers = np.divmod(index, heads)
    names = [f"L{layer + 1} H{head + 1}" for layer, head in zip(layers, numbers, strict=True)]
    last = int(layers.max())
    figure = go.Figure()
    figure.add_scatter(
        x=points[[chosen], 0],
        y=points[[chosen], 1],
        mode="markers",
        hoverinfo="skip",
        marker={
            "symbol": "circle-open",
            "size": 24,
            "color": colours.alert,
            "line": {"width": 3, "color": colours.alert},
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        customdata=[[i, name] for i, name in zip(index.tolist(), names, strict=True)],
        mode="markers+text" if len(points) <= _FEW_HEADS else "markers",
        text=names,
        textposition="top center",
        textfont={"size": 10, "color": colours.ink},
        marker={
            "size": 12,
            "color": layers + 1,
            "colorscale": scale(colours.sequential[2:]),
            "cmin": 1,
            "cmax": max(2, last + 1),
            "line": {"width": 1, "color": colours.ink},
            "colorbar": {
                "title": {"text": "layer"},
                "thickness": 12,
                "dtick": max(1, last // 6),
            },
        },
        selected={"marker": {"opacity": 1}, "textfont": {"color": colours.ink}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": colours.ink}},
        hovertemplate="%{customdata[1]}<br>click to choose<extra></extra>",
    )
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(scaleanchor="x", **axis)
    figure.update_layout(
        height=520,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        dragmode=False,
        clickmode="event+select",
    )
    return figure
