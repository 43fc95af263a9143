"""Heads as points: one measure against another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools, Floats
from core.figures.head_map import HOVERED, add_ring, make_clickable, steady
from core.figures.heatmap import heatmap_figure
from core.figures.labels import literal
from core.figures.palette import Palette, scale
from core.model.trace import Array

_BARS = 300  # pixels, with their legend
_FAINT = 0.25
_LABELS = 24  # across half a page before they overlap
_GROUPS = ("beyond its control", "within its control")


def heads_against(
    places: Sequence[tuple[int, int]],
    x: Floats,
    y: Floats,
    names: tuple[str, str],
    beyond: Bools,
    chosen: int,
    group: Bools,
    colours: Palette,
) -> go.Figure:
    """A point for every head, which can be clicked, or chosen with others by a lasso.

    `places` are layer and head as people number them, `names` those of the axes; `beyond` says
    which heads exceed their control, `chosen` the number of the head that is ringed. While some
    are in the `group`, the others are faint.
    """
    figure = go.Figure()
    looks = ((beyond, "circle", colours.accent), (~beyond, "circle-open", colours.edge))
    for label, (shown, symbol, colour) in zip(_GROUPS, looks, strict=True):
        faint = group.any() & ~group[shown]
        marker = {"symbol": symbol, "size": 10, "color": colour, "line": {"width": 1.5}}
        figure.add_scatter(
            x=x[shown],
            y=y[shown],
            customdata=np.array(places)[shown],
            mode="markers",
            name=label,
            marker=marker | {"opacity": np.where(faint, _FAINT, 1.0)},
            **{key: each for key, each in steady().items() if key != "marker"},
            hovertemplate=(
                f"{HOVERED}: {literal(names[0])} %{{x:.3g}}, {literal(names[1])} %{{y:.3g}}"
                f"<br>{label}; press to open this head<extra></extra>"
            ),
        )
    if np.isfinite(x[chosen]) and np.isfinite(y[chosen]):
        add_ring(figure, float(x[chosen]), float(y[chosen]), "circle-open", 18, colours)
    make_clickable(figure)
    figure.update_xaxes(title_text=literal(names[0]))
    figure.update_yaxes(title_text=literal(names[1]))
    figure.update_layout(height=440, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return figure


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
    figure.update_xaxes(title_text="", fixedrange=True)
    figure.update_yaxes(title_text=literal(unit), fixedrange=True, zerolinecolor=colours.edge)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(height=_BARS, barmode="group", legend=legend)


def unnamed_picture(
    values: Array, labels: Sequence[str], where: str, colours: Palette, *, numbers: bool
) -> go.Figure:
    """A heatmap whose colours run from its own smallest weight to its largest.

    So plotting libraries do it, and so weights that are all but the same look like a pattern.
    Without `numbers`, neither a colour bar nor the pointer tells.
    """
    figure = heatmap_figure(values, labels, where, colours)
    figure.data[0].update(
        zmin=float(np.nanmin(values)),
        zmax=float(np.nanmax(values)),
        colorscale=scale(colours.sequential),
    )
    figure.update_xaxes(dtick=-(-len(labels) // _LABELS))
    if not numbers:
        figure.update_traces(showscale=False, hoverinfo="skip", hovertemplate=None)
    return figure
