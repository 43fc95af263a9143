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
_WIDEST = 7.0  # pixels, at a weight of 1
_MOST_LEVEL_WORDS = 7  # more would overlap on a phone
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
    colours : of the theme.
    gap : the row after which words are left out, marked by dots.
    """
    figure = go.Figure()
    for row, column in enumerate(targets):
        if row != strongest and column is not None:
            figure.add_trace(_arc(row, column, values[row, column], words, colours.ink, 0.28))
    column = targets[strongest]
    if column is None:
        raise ValueError(f"row {strongest} has no target to emphasise")
    weight = float(values[strongest, column])
    figure.add_trace(_arc(strongest, column, weight, words, colours.accent, 1.0))
    figure.add_annotation(
        x=(strongest + column) / 2,
        y=_height(strongest, column),
        text=f"<b>{weight:.2f}</b>",
        showarrow=False,
        yshift=13,
        font={"color": colours.accent, "size": 15},
    )
    for index, word in enumerate(words):
        colour = {strongest: colours.query, column: colours.key}.get(index, colours.ink)
        named = index in {strongest, column}
        figure.add_annotation(
            x=index,
            y=0,
            text=f"<b>{literal(word)}</b>" if named else literal(word),
            showarrow=False,
            yanchor="top",
            yshift=-4,
            **_LEVEL if len(words) <= _MOST_LEVEL_WORDS else _TILTED,
            font={"color": colour, "size": 15 if len(words) <= _MOST_LEVEL_WORDS else 13},
        )
    if gap is not None:
        figure.add_annotation(x=gap + 0.5, y=0, text="⋯", showarrow=False, font={"size": 20})
    tallest = max(_height(row, end) for row, end in enumerate(targets) if end is not None)
    figure.update_xaxes(visible=False, range=[-0.7, len(words) - 0.3], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-0.25 * tallest, 1.25 * tallest], fixedrange=True)
    figure.update_layout(height=270, margin={"l": 0, "r": 0, "t": 0, "b": 0}, showlegend=False)
    return figure


def _arc(
    row: int, column: int, weight: float, words: Sequence[str], colour: str, opacity: float
) -> go.Scatter:
    angle = np.linspace(0.0, np.pi, _ARC_POINTS)
    middle, half = (row + column) / 2, (column - row) / 2
    return go.Scatter(
        x=middle - half * np.cos(angle),
        y=_height(row, column) * np.sin(angle),
        mode="lines",
        line={"width": max(0.8, _WIDEST * float(weight)), "color": colour},
        opacity=opacity,
        hovertemplate=(
            f"{literal(words[row])} → {literal(words[column])}  <b>{weight:.3f}</b><extra></extra>"
        ),
    )


def _height(row: int, column: int) -> float:
    return abs(column - row) ** 0.75
