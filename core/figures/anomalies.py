"""Pictures of what is odd about heads: lengths, the first token, hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.layers import Rows
from core.figures.head_map import layer_ticks, make_clickable, steady
from core.figures.heatmap import MAX_TICKS, heatmap_figure
from core.figures.labels import literal
from core.figures.palette import Palette, scale
from core.model.trace import Array

_HEIGHT = 330  # pixels
_MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}
_SPREAD = 0.62  # of the space between two layers, over which the heads' dots are spread
_PER_ROW = 19  # pixels of a token in a pair of matrices
_PER_LAYER = 26  # pixels of a row of hidden states
_LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": {"text": ""}}


def norm_plane(
    query: Floats, key: Floats, odd: Bools, layer_labels: Sequence[int], colours: Palette
) -> go.Figure:
    """Mean |q| against mean |k|, a dot per head, both axes on one scale, with their diagonal.

    `query`, `key` and `odd` (which have a ring) are (layer, head). A
    clicked point's customdata are layer and head.
    """
    heads = _layer_and_head(query, layer_labels)
    top = float(max(query.max(), key.max())) * 1.06 or 1.0
    bar = {"title": {"text": "layer"}, "thickness": 12, "tickformat": "d"}
    figure = go.Figure()
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": colours.ink, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=key.ravel(),
        y=query.ravel(),
        customdata=heads.tolist(),
        mode="markers",
        marker={
            "size": 10,
            "opacity": 0.85,
            "color": heads[:, 0],
            "colorscale": scale(colours.sequential[3:]),
            "cmin": layer_labels[0],
            "cmax": max(layer_labels[0] + 1, layer_labels[-1]),
            # Eight numbers fit beside the bar.
            "colorbar": bar | {"dtick": -(-(layer_labels[-1] - layer_labels[0] + 1) // 8)},
            "line": {
                "width": np.where(odd.ravel(), 2.5, 0.5),
                "color": np.where(odd.ravel(), colours.alert, colours.paper),
            },
        },
        **steady(opacity=0.85),
        hovertemplate="L%{customdata[0]} H%{customdata[1]}: |q| %{y:.2f}, |k| %{x:.2f}"
        "<extra></extra>",
    )
    figure.update_xaxes(title_text="mean |k|", range=[0, top], nticks=8, zeroline=False)
    figure.update_yaxes(title_text="mean |q|", range=[0, top], nticks=8, zeroline=False)
    make_clickable(figure)
    figure.update_layout(height=_HEIGHT, showlegend=False)
    return figure


def norms_by_position(
    query: Floats | None,
    key: Floats | None,
    labels: Sequence[str],
    colours: Palette,
    top: float | None = None,
) -> go.Figure:
    """|q| and |k| of one head, token by token; `query` and `key` are (token,), one may be None.

    `top` is where the axis of lengths ends, of its own accord unless it is given.
    """
    names = [literal(label) for label in labels]
    positions = np.arange(len(names))
    figure = go.Figure()
    for name, values, colour, symbol in (
        ("|q| queries", query, colours.query, "circle"),
        ("|k| keys", key, colours.key, "diamond"),
    ):
        if values is None:
            continue
        figure.add_scatter(
            x=positions,
            y=values,
            text=names,
            name=name,
            mode="lines+markers" if len(names) <= MAX_TICKS else "lines",
            line={"color": colour, "width": 1.5},
            marker={"size": 8, "symbol": symbol},
            hovertemplate=f"%{{text}}: {name[:3]} %{{y:.3f}}<extra></extra>",
        )
    step = -(-len(names) // MAX_TICKS)
    figure.update_xaxes(
        tickvals=positions[::step],
        ticktext=names[::step],
        tickangle=-60 if len(names) > 8 else 0,
        showgrid=False,
        zeroline=False,
        range=[-0.5, len(names) - 0.5],
    )
    figure.update_yaxes(title_text="length", rangemode="tozero")
    if top is not None:
        figure.update_yaxes(range=[0, top])
        figure.update_layout(showlegend=True)
    figure.update_layout(height=_HEIGHT, margin=_MARGIN, legend=_LEGEND, dragmode=False)
    return figure


def first_by_layer(
    values: Floats,
    uniform: Floats,
    rows: Rows,
    threshold: float | None,
    title: str,
    colours: Palette,
) -> go.Figure:
    """What the first token gets, a dot per head, with each layer's mean and uniform baseline.

    `values` is (layer, head), `uniform` (layer,), the layers in `rows`. A clicked dot's customdata
    are layer and head.
    """
    layers, heads = values.shape
    cells = _layer_and_head(values, rows.layer_labels)
    head = cells[:, 1]
    spread = (head - (heads + 1) / 2) / max(heads, 2) * _SPREAD
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(rows.places, heads) + spread,
        y=values.ravel(),
        customdata=cells.tolist(),
        name="a head",
        mode="markers",
        marker={"size": 9, "color": colours.accent, "opacity": 0.75},
        **steady(opacity=0.75),
        hovertemplate="L%{customdata[0]} H%{customdata[1]}: %{y:.3f}"
        "<br>press to see what it moves<extra></extra>",
    )
    for name, line, dash, colour in (
        ("mean of the layer", values.mean(axis=1), "solid", colours.ink),
        ("uniform baseline", uniform, "dash", colours.categories[1]),
    ):
        figure.add_scatter(
            x=rows.places,
            y=line,
            customdata=rows.layer_labels,
            name=name,
            mode="lines+markers" if layers == 1 else "lines",
            line={"color": colour, "width": 2, "dash": dash},
            hovertemplate=f"layer %{{customdata}}, {name}: %{{y:.3f}}<extra></extra>",
        )
    if threshold is not None:
        figure.add_hline(y=threshold, line={"color": colours.alert, "width": 1, "dash": "dot"})
    axis = {"showgrid": False, "zeroline": False} | layer_ticks(rows)
    figure.update_xaxes(title_text="layer", range=[0.5, rows.end + 0.5], **axis)
    figure.update_yaxes(title_text=title, range=[-0.02, 1.02])
    make_clickable(figure)
    figure.update_layout(height=_HEIGHT + 70, showlegend=True, legend=_LEGEND)
    return figure


def _layer_and_head(values: Floats, layer_labels: Sequence[int]) -> Indices:
    """Layer and head of every value, as people number them, (head of all layers, 2)."""
    layers, heads = values.shape
    return np.stack(
        [np.repeat(layer_labels, heads), np.tile(np.arange(heads) + 1, layers)], axis=-1
    )


def matrix_pair(
    left: Array,
    right: Array,
    labels: tuple[Sequence[str], Sequence[str]],
    where: str,
    names: tuple[str, str],
    titles: tuple[str, str],
    c: Palette,
) -> tuple[go.Figure, go.Figure]:
    """Two matrices of one head with the same colours for the same numbers.

    `labels` are those of rows and of columns, `names` the titles of their colour bars, `titles`
    those of the matrices; `c` the colours.
    """
    rows, columns = labels
    top = float(max(np.nanmax(left, initial=0), np.nanmax(right, initial=0))) or 1.0
    first, second = (
        heatmap_figure(each, rows, where, c, columns=columns) for each in (left, right)
    )
    for figure, name, title in zip((first, second), names, titles, strict=True):
        figure.update_traces(zmax=top, colorbar_title_text=name, colorbar_thickness=10)
        figure.update_layout(
            height=max(380, min(640, 150 + _PER_ROW * len(rows))),
            title={"text": title, "x": 0, "y": 0.99, "yanchor": "top", "font": {"size": 15}},
        )
    return first, second


def states_figure(
    values: Floats,
    largest: Floats,
    rows: Sequence[str],
    labels: Sequence[str],
    title: str,
    colours: Palette,
) -> go.Figure:
    """Sizes of hidden states, layers down and tokens across, coloured by their logarithm.

    `values` are (layer + 1, token), named by `rows` and `labels`, with the `largest` magnitude in
    each state on hover and the `title` at the colour bar.
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
                "title": {"text": title},
                "thickness": 12,
                "tickvals": ticks,
                "ticktext": [f"{10**tick:.3g}" for tick in ticks],
            },
            xgap=1 if len(labels) <= MAX_TICKS else 0,
            ygap=1,
            hovertemplate=f"%{{x}}, %{{y}}: {title} %{{customdata[0]:.2f}}"
            "<br>largest number %{customdata[1]:.2f}<extra></extra>",
        )
    )
    axis: dict[str, Any] = {"showgrid": False, "zeroline": False, "ticks": "", "type": "category"}
    figure.update_xaxes(
        tickmode="linear",
        dtick=-(-len(labels) // MAX_TICKS),
        tickangle=-60 if len(labels) > 8 else 0,
        **axis,
    )
    figure.update_yaxes(autorange="reversed", **axis)
    figure.update_layout(height=max(300, 130 + _PER_LAYER * len(rows)), margin=_MARGIN)
    return figure
