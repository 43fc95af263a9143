"""What each layer of a model writes to its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.labels import literal
from core.figures.layout import axis, lay_out
from core.figures.palette import Palette

_BARS = 300  # pixels, with their legend


def parts_by_layer(
    labels: Sequence[int],
    heads: Floats,
    layers: Floats,
    rest: tuple[float, float],
    unit: str,
    colours: Palette,
) -> go.Figure:
    """What is read at a model's end: bars for the heads of each layer together, and for its MLP.

    `labels` are of the layers, `heads` and `layers` (layer,), `rest` what the embeddings and all
    biases are of it, all in `unit`.
    """
    names = ["embeddings", *(f"layer {label}" for label in labels), "biases"]
    bars = {
        "its heads": (np.array([np.nan, *heads, np.nan]), colours.accent),
        "its MLP": (np.array([np.nan, *layers, np.nan]), colours.categories[1]),
        "neither": (np.array([rest[0], *np.full(len(labels), np.nan), rest[1]]), colours.edge),
    }
    figure = go.Figure()
    for name, (values, colour) in bars.items():
        figure.add_bar(
            x=names,
            y=values,
            name=name,
            marker={"color": colour},
            hovertemplate=f"%{{x}}, {name}: %{{y:.3g}} {literal(unit)}<extra></extra>",
        )
    return lay_out(
        figure,
        xaxis=axis("", fixedrange=True),
        yaxis=axis(literal(unit), fixedrange=True, zerolinecolor=colours.edge),
        height=_BARS,
        barmode="group",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    )
