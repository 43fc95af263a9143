"""Heads as points of a plane, near each other if they attend similarly; each can be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.figures.head_map import add_ring, make_clickable, steady
from core.figures.labels import literal
from core.figures.palette import scale
from core.figures.patterns import LETTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.analysis.arrays import Floats
    from core.figures.palette import Palette

# Pixels, on a picture whose points span at least _SIDE: that of a phone.
_NAME = 40.0, 13.0  # room for a name
_ABOVE = 0.0, 14.0  # from the middle of a point to that of its name
_NEAR = 25.0, 12.0  # a name covers another point that is this near to its middle
_SIDE = 250.0


def similar_by_pattern(
    points: Floats,
    labels: Sequence[str],
    patterns: Sequence[str],
    chosen: int,
    names: Mapping[str, str],
    shades: Mapping[str, str],
    colours: Palette,
) -> go.Figure:
    """Heads coloured by pattern, with its letter; a clicked point's customdata is (number, label).

    `points` are (head of all layers, 2), with a label and a pattern each; the `chosen` head is
    ringed and named. The legend keeps the order of `names`; `shades` are a colour per pattern.
    """
    figure = go.Figure()
    for pattern, name in names.items():
        (members,) = np.nonzero(np.asarray(patterns) == pattern)
        if not members.size:
            continue
        unnamed = pattern in (NONE, TOO_SHORT)
        figure.add_scatter(
            x=points[members, 0],
            y=points[members, 1],
            customdata=[[index, labels[index]] for index in members.tolist()],
            name=f"{name} ({members.size})",
            mode="markers+text",
            text=["" if unnamed else LETTERS[pattern]] * members.size,
            textfont={"size": 10, "color": colours.paper, "weight": 700},
            marker={
                "size": 11 if unnamed else 17,
                "color": shades[pattern],
                "line": {"width": 1, "color": colours.ink if unnamed else colours.paper},
            },
            **steady(colours.paper),
            hovertemplate=f"%{{customdata[1]}}: {name}<extra></extra>",
        )
    _name_chosen(figure, points[chosen], labels[chosen], colours)
    _lay_out(figure)
    figure.update_layout(legend={"orientation": "h", "y": -0.02, "yanchor": "top"})
    return figure


def similar_by_layer(points: Floats, heads: int, chosen: int, colours: Palette) -> go.Figure:
    """Heads coloured by layer, named where there is room; a clicked customdata is (number, name).

    `points` are (head of all layers, 2), `heads` per layer; the `chosen` one is ringed.
    """
    layers, numbers = np.divmod(np.arange(len(points)), heads)
    names = [f"L{layer + 1} H{head + 1}" for layer, head in zip(layers, numbers, strict=True)]
    named = _with_room(points, chosen)
    last = int(layers.max())
    figure = go.Figure()
    _name_chosen(figure, points[chosen], names[chosen], colours)
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        customdata=[[index, name] for index, name in enumerate(names)],
        mode="markers+text",
        text=[name if index in named else "" for index, name in enumerate(names)],
        textposition="top center",
        textfont={"size": 10, "color": colours.ink},
        marker={
            "size": 12,
            "color": layers + 1,
            "colorscale": scale(colours.sequential[2:]),
            "cmin": 1,
            "cmax": max(2, last + 1),
            "line": {"width": 1, "color": colours.ink},
            "colorbar": {"title": {"text": "layer"}, "thickness": 12, "dtick": max(1, last // 6)},
        },
        **steady(colours.ink),
        hovertemplate="%{customdata[1]}<br>click to choose<extra></extra>",
    )
    _lay_out(figure)
    figure.update_layout(showlegend=False)
    return figure


def _with_room(points: Floats, chosen: int) -> set[int]:
    """Points whose names cover neither a point nor another name, the chosen one's first."""
    longest = float(np.ptp(points, axis=0).max())
    pixels = points * (_SIDE / longest if longest > 0 else 0.0)
    named = [chosen]
    for index, point in enumerate(pixels):
        covers_name = (np.abs(pixels[named] - point) < _NAME).all(axis=1).any()
        covers_point = (np.abs(pixels - point - _ABOVE) < _NEAR).all(axis=1).any()
        if not covers_name and not covers_point:
            named.append(index)
    return set(named[1:])


def _name_chosen(figure: go.Figure, point: Floats, name: str, colours: Palette) -> None:
    add_ring(figure, point[0], point[1], "circle-open", 25, colours)
    figure.add_annotation(
        x=point[0],
        y=point[1],
        yshift=24,
        text=f"<b>{literal(name)}</b>",
        showarrow=False,
        font={"size": 13, "color": colours.ink},
        bgcolor=colours.paper,
        borderpad=1,
    )


def _lay_out(figure: go.Figure) -> None:
    """Equal axes without numbers, which mean nothing here."""
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False}
    figure.update_xaxes(**axis, constrain="domain")
    figure.update_yaxes(**axis, scaleanchor="x", scaleratio=1)
    make_clickable(figure)
    figure.update_layout(height=500)
