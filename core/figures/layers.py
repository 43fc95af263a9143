"""What happens from layer to layer: hidden states, high-norm patches, what each layer writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools, Floats
from core.figures.heatmap import MAX_TICKS
from core.figures.layout import BARE, NARROW, axis, lay_out, literal
from core.figures.palette import Palette, scale
from core.vocabulary import percent

_PER_LAYER = 26  # pixels per row of hidden states
_LINES, _BARS = 330, 300  # pixels, with the legend
_BAND = (10, 90)  # percentiles of the patches


def states_figure(
    values: Floats,
    largest: Floats,
    rows: Sequence[str],
    labels: Sequence[str],
    colours: Palette,
) -> go.Figure:
    """Sizes of hidden states, layers down and tokens across, coloured by their logarithm.

    `values` are (layer + 1, token), labelled by `rows` and `labels`, with the `largest` magnitude
    in each state on hover.
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


def norms_by_layer(
    patches: Floats,
    odd: Bools,
    others: dict[str, Floats],
    rows: Sequence[str],
    colours: Palette,
) -> go.Figure:
    """Lengths of states from layer to layer: of most patches, each odd patch, and other tokens.

    `patches` are (layer + 1, patch), `odd` says which are, (patch,); `others` maps names to
    (layer + 1,); `rows` name the layers.
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
        height=_LINES,
        margin=NARROW | {"t": 34},
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


def parts_by_layer(
    labels: Sequence[int],
    heads: Floats,
    layers: Floats,
    rest: tuple[float, float],
    unit: str,
    colours: Palette,
) -> go.Figure:
    """What is read at the model's end: bars for the heads of each layer together, and its MLP.

    `labels` are the layers' names, `heads` and `layers` (layer,), `rest` the parts of the
    embeddings and of all biases; everything is in `unit`.
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
