"""How far heads look: a dot for the mean attention distance of each, layer by layer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats, mean_of_finite
from core.analysis.layers import Rows
from core.figures.head_map import HOVERED, clickable, layer_ticks, steady
from core.figures.layout import BARE, axis, lay_out
from core.figures.palette import Palette

_HEIGHT = 400  # pixels
_SPREAD = 0.62  # of the space between two layers, over which the heads' dots are spread
_ROOM = 1.06  # of the largest value, at the top of the axis


def distance_figure(pixels: Floats, uniform: float, rows: Rows, colours: Palette) -> go.Figure:
    """A dot per head, the mean of each layer, and what uniform attention gives.

    `pixels` are (layer, head), nan where a head gives patches nothing, the layers in `rows`;
    `uniform` is in pixels too. A clicked dot's customdata are layer and head, from 1.
    """
    layers, heads = pixels.shape
    head = np.tile(np.arange(1, heads + 1), layers)
    number = np.repeat(rows.layer_labels, heads)
    spread = (head - (heads + 1) / 2) / max(heads, 2) * _SPREAD
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(rows.places, heads) + spread,
        y=pixels.ravel(),
        customdata=np.stack([number, head], axis=-1).tolist(),
        name="a head",
        mode="markers",
        marker={"size": 10, "color": colours.accent, "opacity": 0.8},
        **steady(opacity=0.8),
        hovertemplate=f"{HOVERED}: %{{y:.1f}} px<br>press to see its CLS map<extra></extra>",
    )
    figure.add_scatter(
        x=rows.places,
        y=mean_of_finite(pixels.T),
        customdata=rows.layer_labels,
        name="mean of the layer",
        mode="lines+markers" if layers == 1 else "lines",
        line={"color": colours.ink, "width": 2},
        hovertemplate="layer %{customdata}, mean of its heads: %{y:.1f} px<extra></extra>",
    )
    figure.add_scatter(
        x=[0.5, rows.end + 0.5],
        y=[uniform, uniform],
        name=f"uniform baseline: {uniform:.1f} px",
        mode="lines",
        line={"color": colours.categories[1], "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )
    top = max(uniform, float(np.nanmax(pixels, initial=0.0))) * _ROOM
    return lay_out(
        figure,
        **clickable(
            axis("layer", range=[0.5, rows.end + 0.5], **BARE, **layer_ticks(rows)),
            axis("mean attention distance (pixels)", range=[0, top]),
        ),
        height=_HEIGHT,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": {"text": ""}},
    )
