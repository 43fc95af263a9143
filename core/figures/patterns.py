"""Patterns of heads in pictures: a map of them, and a head's scores beside their baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.figures.head_map import lay_out_heads, square_size, steady
from core.figures.labels import literal
from core.figures.palette import Palette, lch_to_hex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.head_patterns.registry import Naming

    Floats = NDArray[np.float64]

_GAP = 10  # pixels between squares, one above another
_UNDER_MAP = 58  # pixels from the map to its legend, past the axis
_BAR = 27  # pixels a bar
# Each pattern has a letter too, so that colour is not all there is to read.
LETTERS = {NONE: "", TOO_SHORT: "?"} | {
    name: pattern.naming.letter for name, pattern in NAMING.items() if pattern.naming
}
_CHROMA = 48.0  # of colours that are not the palette's; green and pink stay queries and keys


def pattern_colours(theme: str | None, colours: Palette) -> dict[str, str]:
    """A colour a pattern, ``#rrggbb``; no pattern is the colour of lines."""

    def shade(naming: Naming) -> str:
        if naming.category is not None:
            return colours.categories[naming.category]
        lightness = naming.dark if theme == "dark" else naming.light
        return lch_to_hex(lightness, _CHROMA, naming.hue)

    shades = {name: shade(each.naming) for name, each in NAMING.items() if each.naming}
    return shades | {NONE: colours.line, TOO_SHORT: colours.line}


def pattern_map(
    classes: NDArray[np.str_],
    confidence: Floats,
    names: Mapping[str, str],
    shades: Mapping[str, str],
    colours: Palette,
) -> go.Figure:
    """Layers down, heads across, a square each by its pattern; a clicked point is (head, layer).

    Parameters
    ----------
    classes, confidence : (layer, head).
    names : of the patterns as people read them; the legend keeps their order.
    shades : from :func:`pattern_colours`.
    """
    layers, heads = classes.shape
    figure = go.Figure()
    for kind, name in names.items():
        layer, head = np.nonzero(classes == kind)
        if not layer.size:
            continue
        unnamed = kind in (NONE, TOO_SHORT)
        surely = "" if unnamed else "<br>%{customdata:.2f} of the way from the threshold to 1"
        figure.add_scatter(
            x=head + 1,
            y=layer + 1,
            name=f"{name} ({layer.size})",
            customdata=confidence[layer, head],
            mode="markers+text",
            text=[LETTERS[kind]] * layer.size,
            textfont={
                "size": 12,
                "color": colours.ink if unnamed else colours.paper,
                "weight": 700,
            },
            marker={
                "symbol": "square",
                "size": square_size(heads),
                "color": shades[kind],
                "line": {"width": 1, "color": colours.line},
            },
            **steady(colours.paper),
            hovertemplate=f"L%{{y}} H%{{x}}: {name}{surely}<extra></extra>",
        )
    lay_out_heads(figure, layers, heads)
    drawn = (square_size(heads) + _GAP) * layers  # pixels
    figure.update_layout(
        height=max(270, 160 + drawn),
        showlegend=True,
        legend={
            "orientation": "h",
            "y": -_UNDER_MAP / drawn,
            "yanchor": "top",
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )
    return figure


def ring(figure: go.Figure, layer: int, head: int, heads: int, colours: Palette) -> None:
    """Mark the chosen head, given from 0, on a map of heads."""
    figure.add_scatter(
        x=[head + 1],
        y=[layer + 1],
        mode="markers",
        marker={
            "symbol": "square-open",
            "size": square_size(heads) + 6,
            "color": colours.alert,
            "line": {"width": 3},
        },
        **steady(),
        hoverinfo="skip",
        showlegend=False,
    )


@dataclass(frozen=True)
class Bar:
    """One score of a head: value, uniform baseline, threshold (nan where none), interval."""

    name: str
    value: float
    uniform: float
    threshold: float
    low: float = float("nan")
    high: float = float("nan")
    passes: bool = False


def score_bars(bars: Sequence[Bar], colours: Palette) -> go.Figure:
    """A head's scores as bars from 0 to 1, a tick at the baseline, a diamond at the threshold.

    Scores that are not defined stay empty and say so.
    """
    names = [literal(each.name) for each in bars]
    figure = go.Figure()
    figure.add_bar(
        y=names,
        x=[each.value for each in bars],
        orientation="h",
        marker={"color": [colours.accent if each.passes else colours.line for each in bars]},
        name="score",
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        error_x=_whiskers(bars, colours),
        showlegend=False,
    )
    figure.add_scatter(
        y=names,
        x=[1.04] * len(bars),
        mode="text",
        text=["–" if np.isnan(each.value) else f"{each.value:.2f}" for each in bars],
        textposition="middle right",
        textfont={"color": colours.ink},
        hoverinfo="skip",
        showlegend=False,
    )
    for part, symbol, colour, name in (
        ("uniform", "line-ns-open", colours.ink, "uniform baseline"),
        ("threshold", "diamond", colours.alert, "threshold"),
    ):
        values = [getattr(each, part) for each in bars]
        figure.add_scatter(
            y=names,
            x=values,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 13 if part == "uniform" else 8, "color": colour}
            | {"line": {"width": 2, "color": colour}},
            hovertemplate=f"%{{y}}, {name}: %{{x:.3f}}<extra></extra>",
        )
    figure.update_xaxes(range=[0, 1.2], fixedrange=True, zeroline=False, tickvals=[0, 0.5, 1])
    figure.update_yaxes(autorange="reversed", fixedrange=True, title_text="")
    figure.update_layout(
        height=70 + _BAR * len(bars),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        bargap=0.35,
        legend={"orientation": "h", "y": -0.08, "yanchor": "top"},
    )
    return figure


def _whiskers(bars: Sequence[Bar], colours: Palette) -> dict[str, object] | None:
    if not any(np.isfinite(each.low) for each in bars):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [np.nan_to_num(each.high - each.value) for each in bars],
        "arrayminus": [np.nan_to_num(each.value - each.low) for each in bars],
        "color": colours.ink,
        "thickness": 1.2,
        "width": 3,
    }
