"""A sentence as a line of words, with an arc from each word to the word it attends to most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal

if TYPE_CHECKING:
    from core.analysis.strongest_link import Arcs
    from core.figures.palette import Palette

_ARC_POINTS = 41
_MAX_WIDTH = 7.0  # pixels, at a weight of 1
_MAX_LEVEL_WORDS = 7  # more would overlap on a phone
_LEVEL = {"textangle": 0, "xanchor": "center"}
_TILTED = {"textangle": -40, "xanchor": "right", "xshift": 5}


def links_figure(arcs: Arcs, colours: Palette) -> go.Figure:
    """Arcs above a line of words, as thick as the attention, with dots where words are left out.

    The strongest arc stands out, from its green word (query) to its pink one (key).
    """
    values, words, strongest = arcs.values, arcs.words, arcs.strongest
    targets = {row: column for row, column in enumerate(arcs.targets) if column is not None}
    target = targets[strongest]
    weight = float(values[strongest, target])
    angle = np.linspace(0.0, np.pi, _ARC_POINTS)
    figure = go.Figure()
    for row in [*(row for row in targets if row != strongest), strongest]:
        column, share = targets[row], float(values[row, targets[row]])
        colour, opacity = (colours.accent, 1.0) if row == strongest else (colours.ink, 0.28)
        names = f"{literal(words[row])} → {literal(words[column])}"
        figure.add_scatter(
            x=(row + column) / 2 - (column - row) / 2 * np.cos(angle),
            y=_height(row, column) * np.sin(angle),
            mode="lines",
            line={"width": max(0.8, _MAX_WIDTH * share), "color": colour},
            opacity=opacity,
            hovertemplate=f"{names}  <b>{share:.3f}</b><extra></extra>",
        )
    figure.add_annotation(
        x=(strongest + target) / 2,
        y=_height(strongest, target),
        text=f"<b>{weight:.2f}</b>",
        showarrow=False,
        yshift=13,
        font={"color": colours.accent, "size": 15},
    )
    level = len(words) <= _MAX_LEVEL_WORDS
    for index, word in enumerate(words):
        figure.add_annotation(
            x=index,
            y=0,
            text=f"<b>{literal(word)}</b>" if index in {strongest, target} else literal(word),
            showarrow=False,
            yanchor="top",
            yshift=-4,
            **_LEVEL if level else _TILTED,
            font={
                "color": {strongest: colours.query, target: colours.key}.get(index, colours.ink),
                "size": 15 if level else 13,
            },
        )
    if arcs.gap is not None:
        figure.add_annotation(x=arcs.gap + 0.5, y=0, text="⋯", showarrow=False, font={"size": 20})
    tallest = max(_height(*arc) for arc in targets.items())
    figure.update_xaxes(visible=False, range=[-0.7, len(words) - 0.3], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-0.25 * tallest, 1.25 * tallest], fixedrange=True)
    # A tilted word reaches to the left of its place.
    margin = {"l": 0 if level else min(60, 5 * len(words[0])), "r": 0, "t": 0, "b": 0}
    return figure.update_layout(height=270, margin=margin, showlegend=False)


def _height(row: int, column: int) -> float:
    return abs(column - row) ** 0.75
