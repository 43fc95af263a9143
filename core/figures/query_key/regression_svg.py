"""The regression picture as SVG, for files that carry no chart library."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.normalization import Regression

_WIDTH, _HEIGHT = 620, 360  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 48  # pixels around the points
_ROOM = 0.04  # of the points' extent, on each side
_TICKS = 6  # on an axis, or a few fewer
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # between two ticks, times a power of 10


class _Axis:
    """The pixels from `start` to `end` that `values` and a little room on both sides take."""

    def __init__(self, values: Floats, start: float, end: float) -> None:
        low, high = float(values.min()), float(values.max())
        room = _ROOM * (high - low) or 1.0
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def pixels(self, values: Floats) -> list[float]:
        share = (values - self.low) / (self.high - self.low)
        return (self.start + share * (self.end - self.start)).tolist()

    @property
    def ticks(self) -> list[tuple[str, float]]:
        """Round numbers between the ends, as written and their pixels."""
        min_step = (self.high - self.low) / _TICKS
        power = 10 ** np.floor(np.log10(min_step))
        step = next(each * power for each in _STEPS if each * power >= min_step)
        values = np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1) * step
        written = [f"{value + 0.0:g}".replace("-", "−") for value in values]
        return list(zip(written, self.pixels(values), strict=True))


def regression_svg(regression: Regression, title: str) -> str:
    """Cosine distance across, dot product up, the least-squares line; colours of the theme."""
    from jinja2 import StrictUndefined, Template  # for reports alone

    across = _Axis(regression.distances, _LEFT, _WIDTH - _RIGHT)
    up = _Axis(regression.products, _HEIGHT - _BOTTOM, _TOP)
    line: tuple[float, ...] = ()
    if regression.line is not None:
        ends = np.array([regression.distances.min(), regression.distances.max()])
        x = across.pixels(ends)
        y = up.pixels(regression.line.intercept + regression.line.slope * ends)
        line = (x[0], y[0], x[1], y[1])
    points = zip(across.pixels(regression.distances), up.pixels(regression.products), strict=True)
    markup = Path(__file__).with_name("regression.svg").read_text("utf-8")
    return Template(markup, undefined=StrictUndefined, autoescape=True).render(
        title=title,
        width=_WIDTH,
        height=_HEIGHT,
        middle=(_HEIGHT + _TOP - _BOTTOM) / 2,
        across=across,
        up=up,
        points=points,
        line=line,
    )
