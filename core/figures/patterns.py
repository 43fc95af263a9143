"""Head patterns in pictures: their colours, and a head's scores next to their baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.analysis.head_patterns.naming import NAMING
from core.figures.heads import ClassLook
from core.figures.layout import axis, lay_out, literal
from core.figures.palette import Palette, lch_to_hex

_BAR = 24  # pixels per bar
_NUMBERS = 56  # pixels next to the bars, for their values
_SPACE = "\u2002"  # between the end of the axis and a number, where a mark may stick out
_CHROMA = 48.0  # for colours outside the palette; green and pink stay queries and keys


def pattern_looks(
    names: Mapping[str, str], theme: str | None, colours: Palette
) -> dict[str, ClassLook]:
    """How each pattern looks, in the order of `names`; none has the colour of lines."""
    clarity = "<br>%{customdata[2]:.2f} of the way from the threshold to 1"
    looks = {}
    for pattern, name in names.items():
        naming = NAMING[pattern].naming if pattern in NAMING else None
        if naming is None:
            looks[pattern] = ClassLook(name, "", colours.line)
            continue
        colour = (
            lch_to_hex(naming.dark if theme == "dark" else naming.light, _CHROMA, naming.hue)
            if naming.category is None
            else colours.categories[naming.category]
        )
        looks[pattern] = ClassLook(name, naming.letter, colour, clarity)
    return looks


def feature_looks(colours: Palette) -> dict[str, ClassLook]:
    """How heads that follow an image feature look; green and pink stay queries and keys."""
    letters = {"hue": ("H", 3), "brightness": ("B", 1), "edges": ("E", 0), "place": ("P", 2)}
    hover = "<br>rank correlation %{customdata[2]:.2f}"
    looks = {
        name: ClassLook(name, letter, colours.categories[category], hover)
        for name, (letter, category) in letters.items()
    }
    return looks | {"none": ClassLook("none of these", "", colours.line, hover)}


@dataclass(frozen=True)
class ScoreBar:
    """One score of a head: value, uniform baseline, threshold (nan if none), interval."""

    name: str
    value: float
    uniform: float
    threshold: float
    low: float = float("nan")
    high: float = float("nan")
    passes: bool = False


def score_bars(bars: Sequence[ScoreBar], colours: Palette) -> go.Figure:
    """A head's scores as bars from 0 to 1, a tick at the baseline, a diamond at the threshold.

    Undefined scores have no bar, and a dash instead of a number.
    """
    names = [literal(each.name) for each in bars]
    intervals = {
        "type": "data",
        "symmetric": False,
        "array": [np.nan_to_num(each.high - each.value) for each in bars],
        "arrayminus": [np.nan_to_num(each.value - each.low) for each in bars],
        "color": colours.ink,
        "thickness": 1.2,
        "width": 3,
    }
    figure = go.Figure()
    figure.add_bar(
        y=names,
        x=[each.value for each in bars],
        orientation="h",
        marker={"color": [colours.accent if each.passes else colours.edge for each in bars]},
        name="score",
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        error_x=intervals if any(np.isfinite(each.low) for each in bars) else None,
        showlegend=False,
    )
    figure.add_scatter(
        y=names,
        x=[1.0] * len(bars),
        mode="text",
        text=["–" if np.isnan(each.value) else f"{_SPACE}{each.value:.2f}" for each in bars],
        textposition="middle right",
        textfont={"color": colours.ink},
        cliponaxis=False,  # numbers are in the margin, which has the same width everywhere
        hoverinfo="skip",
        showlegend=False,
    )
    for part, symbol, size, colour, name in (
        ("uniform", "line-ns-open", 13, colours.ink, "uniform baseline"),
        ("threshold", "diamond", 8, colours.alert, "threshold"),
    ):
        figure.add_scatter(
            y=names,
            x=[getattr(each, part) for each in bars],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": size, "color": colour}
            | {"line": {"width": 2, "color": colour}},
            hovertemplate=f"%{{y}}, {name}: %{{x:.3f}}<extra></extra>",
        )
    return lay_out(
        figure,
        xaxis={"range": [0, 1.02], "fixedrange": True, "zeroline": False, "tickvals": [0, 0.5, 1]},
        yaxis=axis("", autorange="reversed", fixedrange=True),
        height=70 + _BAR * len(bars),
        margin={"l": 8, "r": _NUMBERS, "t": 8, "b": 8},
        bargap=0.35,
        legend={"orientation": "h", "y": -0.08, "yanchor": "top"},
    )
