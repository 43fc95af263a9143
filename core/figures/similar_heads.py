"""Heads as points of a plane, near each other if they attend similarly; each can be clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.class_map import add_legend
from core.figures.head_map import clickable, steady
from core.figures.labels import literal
from core.figures.layout import BARE, lay_out
from core.figures.palette import Palette
from core.figures.patterns import LETTERS


def similar_by_pattern(
    points: Floats,
    layer_labels: Sequence[int],
    patterns: Sequence[str],
    chosen: int,
    names: Mapping[str, str],
    shades: Mapping[str, str],
    colours: Palette,
) -> go.Figure:
    """Heads coloured by pattern, with its letter.

    `points` are (head of all layers, 2), with a pattern each. A clicked point's customdata are
    layer, head and name. The `chosen` head is ringed and named. The legend keeps the order of
    `names`; `shades` are a colour per pattern.
    """
    figure = go.Figure()
    numbers = range(1, len(points) // len(layer_labels) + 1)
    heads = [(layer, head, f"L{layer} H{head}") for layer in layer_labels for head in numbers]
    for pattern, name in names.items():
        (members,) = np.nonzero(np.asarray(patterns) == pattern)
        if not members.size:
            continue
        letter = LETTERS[pattern]
        figure.add_scatter(
            x=points[members, 0],
            y=points[members, 1],
            customdata=[heads[index] for index in members.tolist()],
            name=f"{letter} {literal(name)} ({members.size})".lstrip(),
            mode="markers+text",
            text=[letter] * members.size,
            textfont={"color": colours.paper},
            marker={
                "size": 19 if letter else 11,
                "color": shades[pattern],
                "line": {"width": 1, "color": colours.ink},
            },
            **steady(),
            hovertemplate=f"%{{customdata[2]}}: {literal(name)}<extra></extra>",
        )
    _ring(figure, points[chosen], heads[chosen][2], colours)
    look = {**BARE, "showticklabels": False}  # numbers mean nothing
    scaled = {"scaleanchor": "x", "scaleratio": 1}
    lay_out(figure, **clickable({**look, "constrain": "domain"}, {**look, **scaled}), height=456)
    add_legend(figure, 12)
    return figure


def _ring(figure: go.Figure, place: Floats, name: str, colours: Palette) -> None:
    """Ring and name the chosen head."""
    x, y = place
    line = {"width": 3, "color": colours.alert}
    ring = {"symbol": "circle-open", "size": 25, "color": colours.alert, "line": line}
    quiet = {"hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(x=[x], y=[y], mode="markers", marker=ring, **steady(), **quiet)
    bold, font = f"<b>{literal(name)}</b>", {"color": colours.ink}
    figure.add_annotation(
        x=x, y=y, yshift=24, text=bold, showarrow=False, font=font, bgcolor=colours.paper
    )
