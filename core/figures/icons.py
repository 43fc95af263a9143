"""Icons of head patterns: what an attention table of such a head looks like, in a small square."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.head_map import steady


class Mark(NamedTuple):
    """One mark of an icon: plotly's `symbol`, turned to the `angle` and moved away from it.

    Degrees go clockwise from up; `away` from the middle and `size` are shares of the square's side.
    A line lies across its angle, and a diamond turned by 45 degrees is a square.
    """

    symbol: str
    angle: float
    away: float
    size: float


def _blocks(*angles: float) -> tuple[Mark, ...]:
    return tuple(Mark("diamond", angle, 0.29, 0.3) for angle in angles)


# What each looks like is also what a screen reader says.
ICONS: Mapping[str, tuple[Mark, ...]] = {
    "": (),
    "a line under the diagonal": (Mark("line-ew", 45, 0.17, 0.6),),
    "a line over the diagonal": (Mark("line-ew", 225, 0.17, 0.6),),
    "the diagonal": (Mark("line-ew", 45, 0, 0.8),),
    "a column at the left": (Mark("line-ew", 90, 0.27, 0.54),),
    "a column at the right": (Mark("line-ew", 270, 0.27, 0.54),),
    "a column in the middle": (Mark("line-ew", 90, 0, 0.54),),
    "two cells off the diagonal": tuple(Mark("circle", at, 0.3, 0.26) for at in (45, 225)),
    "a short line far under the diagonal": (Mark("line-ew", 45, 0.36, 0.34),),
    "two blocks off the diagonal": _blocks(45, 225),
    "all four quarters": _blocks(45, 135, 225, 315),
}


def draw_icon(
    figure: go.Figure, x: Floats, y: Floats, icon: str, size: float, colour: str, **axes: str
) -> None:
    """Draw an icon on squares of a `size` in pixels around the points (`x`, `y`), on these axes."""
    if not ICONS[icon]:
        return
    symbols, angles, aways, shares = zip(*(mark for _ in x for mark in ICONS[icon]), strict=True)
    count = len(ICONS[icon])
    figure.add_scatter(
        x=np.repeat(x, count),
        y=np.repeat(y, count),
        mode="markers",
        marker={
            "symbol": symbols,
            "angle": angles,
            "standoff": size * np.array(aways),
            "size": size * np.array(shares),
            "color": colour,
            "opacity": 1,
            "line": {"width": 0.12 * size if "line-ew" in symbols else 0, "color": colour},
        },
        **steady(),
        **axes,
        hoverinfo="skip",
        showlegend=False,
    )
