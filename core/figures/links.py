"""A sentence as a line of words, with an arc from each word to the word it attends to most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.figures.palette import Palette
    from core.model.trace import Array

_ARC_POINTS = 41
_MAX_WIDTH = 7.0  # pixels, at a weight of 1
_MAX_LEVEL_WORDS = 7  # more would overlap on a phone
_LEVEL = {"textangle": 0, "xanchor": "center"}
_TILTED = {"textangle": -40, "xanchor": "right", "xshift": 5}


def links_figure(
    values: Array,
    words: Sequence[str],
    targets: Sequence[int | None],
    strongest: int,
    colours: Palette,
    gap: int | None = None,
) -> go.Figure:
    """Arcs above a line of words, as thick as the attention; one of them stands out.

    Parameters
    ----------
    values : (row, column) attention between the words.
    words : one a row and column.
    targets : for each row, the column its arc leads to, if any.
    strongest : the row whose arc stands out: its word green (query), its target pink (key).
    gap : the row after which words are left out, marked by dots.
    """
    arcs = {row: column for row, column in enumerate(targets) if column is not None}
    if strongest not in arcs:
        raise ValueError(f"row {strongest} has no target to emphasise")
    target = arcs[strongest]
    weight = float(values[strongest, target])
    figure = go.Figure()
    for row in [*(row for row in arcs if row != strongest), strongest]:
        colour, opacity = (colours.accent, 1.0) if row == strongest else (colours.ink, 0.28)
        figure.add_trace(_arc(row, arcs[row], values[row, arcs[row]], words, colour, opacity))
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
    if gap is not None:
        figure.add_annotation(x=gap + 0.5, y=0, text="⋯", showarrow=False, font={"size": 20})
    tallest = max(_height(*arc) for arc in arcs.items())
    figure.update_xaxes(visible=False, range=[-0.7, len(words) - 0.3], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-0.25 * tallest, 1.25 * tallest], fixedrange=True)
    margin = {"l": 0, "r": 0, "t": 0, "b": 0}
    return figure.update_layout(height=270, margin=margin, showlegend=False)


def _arc(
    row: int, column: int, weight: float, words: Sequence[str], colour: str, opacity: float
) -> go.Scatter:
    angle = np.linspace(0.0, np.pi, _ARC_POINTS)
    names = f"{literal(words[row])} → {literal(words[column])}"
    return go.Scatter(
        x=(row + column) / 2 - (column - row) / 2 * np.cos(angle),
        y=_height(row, column) * np.sin(angle),
        mode="lines",
        line={"width": max(0.8, _MAX_WIDTH * float(weight)), "color": colour},
        opacity=opacity,
        hovertemplate=f"{names}  <b>{weight:.3f}</b><extra></extra>",
    )


def _height(row: int, column: int) -> float:
    return abs(column - row) ** 0.75
