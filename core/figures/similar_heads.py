"""Heads as points of a plane, near each other if they attend similarly; each can be clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.figures.class_map import ClassLook, add_legend
from core.figures.head_map import add_ring, make_clickable, steady
from core.figures.icons import draw_icon
from core.figures.labels import literal
from core.figures.palette import Palette
from core.figures.patterns import PATTERN_ICONS


def similar_by_pattern(
    points: Floats,
    layer_labels: Sequence[int],
    patterns: Sequence[str],
    chosen: int,
    names: Mapping[str, str],
    shades: Mapping[str, str],
    colours: Palette,
) -> go.Figure:
    """Heads coloured by pattern, with its icon.

    `points` are (head of all layers, 2), with a pattern each. A
    clicked point's customdata are layer, head and name. The `chosen` head is ringed and named. The
    legend keeps the order of `names`; `shades` are a colour per pattern.
    """
    figure = go.Figure()
    numbers = range(1, len(points) // len(layer_labels) + 1)
    heads = [(layer, head, f"L{layer} H{head}") for layer in layer_labels for head in numbers]
    entries = {}
    for pattern, name in names.items():
        (members,) = np.nonzero(np.asarray(patterns) == pattern)
        if not members.size:
            continue
        unnamed, icon = pattern in (NONE, TOO_SHORT), PATTERN_ICONS[pattern]
        entries[f"{name} ({members.size})"] = ClassLook(name, "", shades[pattern], icon=icon)
        x, y = points[members].T
        figure.add_scatter(
            x=x,
            y=y,
            customdata=[heads[index] for index in members.tolist()],
            mode="markers",
            marker={
                "size": 11 if unnamed else 19,
                "color": shades[pattern],
                "line": {"width": 1, "color": colours.ink if unnamed else colours.paper},
            },
            **steady(),
            showlegend=False,
            hovertemplate=f"%{{customdata[2]}}: {name}<extra></extra>",
        )
        draw_icon(figure, x, y, icon, 15, colours.paper)
    x, y = points[chosen]
    add_ring(figure, x, y, "circle-open", 25, colours)
    figure.add_annotation(
        x=x,
        y=y,
        yshift=24,
        text=f"<b>{literal(heads[chosen][2])}</b>",
        showarrow=False,
        font={"size": 13, "color": colours.ink},
        bgcolor=colours.paper,
        borderpad=1,
    )
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False}  # numbers mean nothing
    figure.update_xaxes(**axis, constrain="domain")
    figure.update_yaxes(**axis, scaleanchor="x", scaleratio=1)
    make_clickable(figure)
    add_legend(figure, entries, 440, 12, colours)
    return figure
