"""A sentence as a line of words, with an arc from each word to the word it attends to most."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.analysis.strongest_link import Arcs
from core.figures.labels import literal
from core.figures.palette import Palette

_ARC_POINTS = 41
_MAX_WIDTH = 7.0  # pixels, at a weight of 1
_ANGLES = [0, -40, -90]  # degrees: the browser takes the first at which no two words overlap
_LETTERS = 14  # pixels


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
    tallest = max(_height(*arc) for arc in targets.items())
    labels = [
        _coloured(word, {strongest: colours.query, target: colours.key}.get(index), colours.ink)
        for index, word in enumerate(words)
    ]
    places: list[float] = list(range(len(words)))
    if arcs.gap is not None:
        places, labels = [*places, arcs.gap + 0.5], [*labels, "⋯"]
    figure.update_xaxes(
        range=[-0.7, len(words) - 0.3],
        fixedrange=True,
        tickvals=places,
        ticktext=labels,
        tickfont={"color": colours.ink, "size": _LETTERS},
        autotickangles=_ANGLES,
        automargin=True,  # room for a word that reaches to the left of the first, or far down
        ticklabeloverflow="allow",
        showgrid=False,
        zeroline=False,
        showline=False,
        ticks="",
    )
    figure.update_yaxes(visible=False, range=[-0.04 * tallest, 1.25 * tallest], fixedrange=True)
    margin = {"l": 0, "r": 0, "t": 0, "b": 0}
    return figure.update_layout(height=270, margin=margin, showlegend=False)


def _coloured(word: str, colour: str | None, ink: str) -> str:
    """A word as plotly writes it; one of the strongest link is bold, in its colour.

    Streamlit's theme draws ticks in a faded ink, whatever their font says: each says its own.
    """
    text = f'<span style="color:{colour or ink}">{literal(word)}</span>'
    return text if colour is None else f"<b>{text}</b>"


def _height(row: int, column: int) -> float:
    return abs(column - row) ** 0.75
