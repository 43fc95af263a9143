"""The project's colours as Python values, read from the one place that defines them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, as ``#rrggbb``.

    Attributes
    ----------
    query, key : green and pink, in every view.
    accent : emphasis that is neither query nor key.
    ink, paper, line : text, background, borders.
    sequential : attention strength, weak to strong.
    diverging : signed scores, negative to positive.
    """

    query: str
    key: str
    accent: str
    ink: str
    paper: str
    line: str
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]


@cache
def palette(theme: str | None) -> Palette:
    """Colours of the "dark" theme, or of the light one for any other value."""
    settings = tomllib.loads(_CONFIG.read_text("utf-8"))["theme"]
    colours = settings["dark" if theme == "dark" else "light"]
    query, key, accent, *_ = colours["chartCategoricalColors"]
    return Palette(
        query=query,
        key=key,
        accent=accent,
        ink=colours["textColor"],
        paper=colours["backgroundColor"],
        line=colours["borderColor"],
        sequential=tuple(colours["chartSequentialColors"]),
        diverging=tuple(colours["chartDivergingColors"]),
    )


def scale(colours: tuple[str, ...]) -> list[list[float | str]]:
    """Colours as a plotly colour scale, evenly spaced from 0 to 1."""
    last = len(colours) - 1
    return [[index / last, colour] for index, colour in enumerate(colours)]
