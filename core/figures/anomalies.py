"""How large hidden states are, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.heatmap import MAX_TICKS
from core.figures.labels import literal
from core.figures.layout import BARE, NARROW, lay_out
from core.figures.palette import Palette, scale

_PER_LAYER = 26  # pixels of a row of hidden states


def states_figure(
    values: Floats,
    largest: Floats,
    rows: Sequence[str],
    labels: Sequence[str],
    colours: Palette,
) -> go.Figure:
    """Sizes of hidden states, layers down and tokens across, coloured by their logarithm.

    `values` are (layer + 1, token), named by `rows` and `labels`, with the `largest` magnitude in
    each state on hover.
    """
    shade = np.log10(values, where=values > 0, out=np.full(values.shape, np.nan))
    finite = shade[np.isfinite(shade)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if high - low < 0.3:  # less than a factor of two is not worth a colour
        low, high = (low + high) / 2 - 0.15, (low + high) / 2 + 0.15
    ticks = np.linspace(low, high, 5)
    figure = go.Figure(
        go.Heatmap(
            z=shade,
            x=[literal(label) for label in labels],
            y=list(rows),
            zmin=low,
            zmax=high,
            customdata=np.stack([values, largest], axis=-1),
            colorscale=scale(colours.sequential),
            colorbar={
                "title": {"text": "length"},
                "thickness": 12,
                "tickvals": ticks,
                "ticktext": [f"{10**tick:.3g}" for tick in ticks],
            },
            xgap=1 if len(labels) <= MAX_TICKS else 0,
            ygap=1,
            hovertemplate="%{x}, %{y}: length %{customdata[0]:.2f}"
            "<br>largest number %{customdata[1]:.2f}<extra></extra>",
        )
    )
    look: dict[str, Any] = {**BARE, "ticks": "", "type": "category"}
    angle, every = -60 if len(labels) > 8 else 0, -(-len(labels) // MAX_TICKS)
    return lay_out(
        figure,
        xaxis=look | {"tickmode": "linear", "dtick": every, "tickangle": angle},
        yaxis=look | {"autorange": "reversed"},
        height=max(300, 130 + _PER_LAYER * len(rows)),
        margin=NARROW,
    )
