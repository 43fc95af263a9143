"""The regression picture as SVG, for files that carry no chart library."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.query_key.layer_search import Regression

    Floats = NDArray[np.float64]

_WIDTH, _HEIGHT = 620, 360  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 48  # pixels around the points
_ROOM = 0.04  # of the points' extent, on each side
_TICKS = 6  # on an axis, or a few fewer
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # what the distance of two ticks may begin with


@dataclass(frozen=True)
class _Axis:
    """Values from `low` to `high` lie from pixel `start` to pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, values: Floats) -> list[float]:
        share = (values - self.low) / (self.high - self.low)
        return [float(place) for place in self.start + share * (self.end - self.start)]

    @property
    def ticks(self) -> Floats:
        """Round numbers between the ends."""
        least = (self.high - self.low) / _TICKS
        power = 10 ** np.floor(np.log10(least))
        step = next(each * power for each in _STEPS if each * power >= least)
        return np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1) * step


def regression_svg(regression: Regression, title: str) -> str:
    """Cosine distance across, dot product up, the line of least squares; colours of the theme."""
    across = _axis(regression.distances, _LEFT, _WIDTH - _RIGHT)
    up = _axis(regression.products, _HEIGHT - _BOTTOM, _TOP)
    # One path for all points: a dot is a line of no length with round ends.
    places = zip(across.at(regression.distances), up.at(regression.products), strict=True)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    points = (
        f'<path class="points" d="{dots}" stroke="var(--st-primary-color)" stroke-width="5"'
        ' stroke-linecap="round" opacity="0.6"/>'
    )
    parts = [
        *_frame(across, up),
        points,
        _line(regression, across, up),
        _words(title, _WIDTH / 2, 20, "middle", weight=600),
    ]
    return (
        f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        f' style="display: block; max-width: {_WIDTH}px; font-family: var(--st-font)">'
        f"{''.join(parts)}</svg>"
    )


def _axis(values: Floats, start: float, end: float) -> _Axis:
    low, high = float(values.min()), float(values.max())
    room = _ROOM * (high - low) or 1.0
    return _Axis(low - room, high + room, start, end)


def _line(regression: Regression, across: _Axis, up: _Axis) -> str:
    if regression.line is None:
        return ""
    ends = np.array([regression.distances.min(), regression.distances.max()])
    x, y = across.at(ends), up.at(regression.line.start + regression.line.slope * ends)
    return (
        f'<path class="line" d="M{x[0]:.1f} {y[0]:.1f}L{x[1]:.1f} {y[1]:.1f}"'
        ' stroke="var(--st-red-color)" stroke-width="2.5"/>'
    )


def _frame(across: _Axis, up: _Axis) -> list[str]:
    """Lines across at round products, the numbers of both axes, and what the axes show."""
    parts = []
    for value, y in zip(up.ticks, up.at(up.ticks), strict=True):
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--st-border-color)"/>'
        )
        parts.append(_words(_number(value), _LEFT - 8, y + 4, "end"))
    for value, x in zip(across.ticks, across.at(across.ticks), strict=True):
        parts.append(_words(_number(value), x, _HEIGHT - _BOTTOM + 18, "middle"))
    middle = (_HEIGHT + _TOP - _BOTTOM) / 2
    parts.append(_words("cosine distance", _WIDTH / 2, _HEIGHT - 8, "middle"))
    parts.append(
        f'<g transform="rotate(-90 16 {middle:g})">'
        f"{_words('dot product', 16, middle, 'middle')}</g>"
    )
    return parts


def _number(value: float) -> str:
    return f"{value + 0.0:g}".replace("-", "−")


def _words(text: str, x: float, y: float, anchor: str, *, weight: int = 400) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="13"'
        f' font-weight="{weight}" fill="var(--st-text-color)">{html.escape(text)}</text>'
    )
