"""The tokens that a model expects, as bars as long as their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.figures.labels import literal
from core.figures.palette import Palette
from core.vocabulary import percent

_BAR = 28  # pixels per bar
_MAX_LABEL = 18  # characters; the whole token is shown on hover
_ROOM = 1.25  # of the longest bar, so that its number fits beside it


@dataclass(frozen=True)
class GuessBar:
    """A token as people read it, its entry in the vocabulary, and its probability."""

    label: str
    entry: str
    id: int
    probability: float


def guess_bars(bars: Sequence[GuessBar], colours: Palette) -> go.Figure:
    """Bars from top to bottom in the order given, the longest as long as the figure is wide."""
    places = list(range(len(bars)))
    figure = go.Figure()
    figure.add_bar(
        y=places,
        x=[bar.probability for bar in bars],
        orientation="h",
        marker={"color": colours.accent},
        text=[percent(bar.probability) for bar in bars],
        textposition="outside",
        textfont={"color": colours.ink},
        cliponaxis=False,
        customdata=[[literal(bar.entry), bar.id] for bar in bars],
        hovertemplate="%{customdata[0]}, entry %{customdata[1]} of the vocabulary"
        "<br><b>%{x:.4f}</b><extra></extra>",
    )
    longest = max((bar.probability for bar in bars), default=1.0)
    figure.update_xaxes(visible=False, range=[0, _ROOM * longest], fixedrange=True)
    figure.update_yaxes(
        tickvals=places,
        ticktext=[literal(_short(bar.label)) for bar in bars],
        tickfont={"size": 14},
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        title_text="",
    )
    margin = {"l": 8, "r": 8, "t": 4, "b": 4}
    return figure.update_layout(
        height=8 + _BAR * len(bars), margin=margin, bargap=0.3, showlegend=False
    )


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1] + "…"
