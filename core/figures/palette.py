"""The project's colours, read from Streamlit's configuration, which defines them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from core.analysis.arrays import Floats

_TAB20 = (
    "1f77b4aec7e8ff7f0effbb782ca02c98df8ad62728ff98969467bdc5b0d5"
    "8c564bc49c94e377c2f7b6d27f7f7fc7c7c7bcbd22dbdb8d17becf9edae5"
)
_CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, as ``#rrggbb``."""

    query: str  # dark green, in every view
    key: str  # pink, lighter than queries, in every view
    accent: str  # emphasis that is neither query nor key
    alert: str  # the subject of a picture where green and pink are taken
    ink: str  # text
    link: str  # text that is a link
    paper: str  # background
    panel: str  # background of boxes
    sidebar: str  # background of the sidebar
    line: str  # frames and grids
    edge: str  # axes, and outlines that must be visible
    categories: tuple[str, ...]  # five more colours, for things without an order
    sequential: tuple[str, ...]  # attention strength, weak to strong
    diverging: tuple[str, ...]  # signed scores, negative to positive


@cache
def palette(theme: str | None) -> Palette:
    """Colours of the "dark" theme, or of the light one for any other value."""
    settings = tomllib.loads(_CONFIG.read_text("utf-8"))["theme"]
    colours = settings["dark" if theme == "dark" else "light"]
    query, key, *categories = colours["chartCategoricalColors"]
    return Palette(
        query=query,
        key=key,
        accent=categories[0],
        alert=colours["redColor"],
        ink=colours["textColor"],
        link=colours["linkColor"],
        paper=colours["backgroundColor"],
        panel=colours["secondaryBackgroundColor"],
        sidebar=colours["sidebar"]["backgroundColor"],
        line=colours["dataframeBorderColor"],
        edge=colours["borderColor"],
        categories=tuple(categories),
        sequential=tuple(colours["chartSequentialColors"]),
        diverging=tuple(colours["chartDivergingColors"]),
    )


def scale(colours: Sequence[str]) -> list[list[float | str]]:
    """Colours as a plotly colour scale, evenly spaced from 0 to 1."""
    last = len(colours) - 1
    return [[index / last, colour] for index, colour in enumerate(colours)]


def shaded(colours: Sequence[str], places: Floats) -> list[str]:
    """Colours at `places`, (value,), on that scale, ``#rrggbb``; clipped to its ends."""
    ends = np.array([list(bytes.fromhex(colour[1:])) for colour in colours])
    steps = np.linspace(0, 1, len(colours))
    channels = np.stack([np.interp(places, steps, channel) for channel in ends.T], axis=-1)
    return [f"#{bytes(row).hex()}" for row in np.rint(channels).astype(np.uint8)]


def token_colours(count: int, theme: str | None) -> list[str]:
    """`count` distinct colours, all readable as text on the theme's background, ``#rrggbb``.

    Hues are a golden angle apart, so that neighbours differ however many there are; lightness
    cycles through three steps (CIE LCh, so that equal numbers look equally strong).
    """
    levels = (72.0, 62.0, 82.0) if theme == "dark" else (38.0, 46.0, 30.0)
    return [
        lch_to_hex(levels[index % 3], 52.0, (25.0 + 137.508 * index) % 360)
        for index in range(count)
    ]


def tab20(count: int) -> list[str]:
    """`count` colours of matplotlib's qualitative map "tab20", repeating after twenty."""
    starts = (6 * (index % 20) for index in range(count))
    return [f"#{_TAB20[start : start + 6]}" for start in starts]


def lch_to_hex(lightness: float, chroma: float, hue: float) -> str:
    """CIE LCh(ab) under D65 to sRGB, clipped to what a screen can show."""

    def to_srgb(channel: float) -> float:
        bounded = min(1.0, max(0.0, channel))
        return 12.92 * bounded if bounded <= 0.0031308 else 1.055 * bounded ** (1 / 2.4) - 0.055

    linear = lch_to_linear(lightness, chroma, hue)
    return "#" + "".join(f"{round(255 * to_srgb(channel)):02x}" for channel in linear)


def lch_to_linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    """CIE LCh(ab) under D65 as linear light; outside 0 to 1 where no screen can show it."""
    radians = math.radians(hue)
    fy = (lightness + 16) / 116
    fx, fz = fy + chroma * math.cos(radians) / 500, fy - chroma * math.sin(radians) / 200
    x, y, z = (
        white * (f**3 if f > 6 / 29 else 3 * (6 / 29) ** 2 * (f - 4 / 29))
        for f, white in ((fx, 0.95047), (fy, 1.0), (fz, 1.08883))
    )
    return (
        3.2406 * x - 1.5372 * y - 0.4986 * z,
        -0.9689 * x + 1.8758 * y + 0.0415 * z,
        0.0557 * x - 0.2040 * y + 1.0570 * z,
    )
