"""The regression picture as SVG, for files that carry no chart library."""

from __future__ import annotations

import html

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.query_key.layer_search import Regression

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
    across = _Axis(regression.distances, _LEFT, _WIDTH - _RIGHT)
    up = _Axis(regression.products, _HEIGHT - _BOTTOM, _TOP)
    # One path for all points: a dot is a line of no length with round ends.
    points = zip(across.pixels(regression.distances), up.pixels(regression.products), strict=True)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
    look = 'stroke="var(--st-primary-color)" stroke-width="5" stroke-linecap="round" opacity="0.6"'
    parts = [*_frame(across, up), f'<path class="points" d="{dots}" {look}/>']
    if regression.line is not None:
        ends = np.array([regression.distances.min(), regression.distances.max()])
        x, y = (
            across.pixels(ends),
            up.pixels(regression.line.intercept + regression.line.slope * ends),
        )
        parts.append(
            f'<path class="line" d="M{x[0]:.1f} {y[0]:.1f}L{x[1]:.1f} {y[1]:.1f}"'
            ' stroke="var(--st-red-color)" stroke-width="2.5"/>'
        )
    parts.append(_text(title, _WIDTH / 2, 20, "middle", weight=600))
    return (
        f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        f' style="display: block; max-width: {_WIDTH}px; font-family: var(--st-font)">'
        f"{''.join(parts)}</svg>"
    )


def _frame(across: _Axis, up: _Axis) -> list[str]:
    """Lines across at round products, the numbers of both axes, and what the axes show."""
    parts = []
    for written, y in up.ticks:
        line = f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--st-border-color)"/>'
        parts += [line, _text(written, _LEFT - 8, y + 4, "end")]
    parts += [_text(written, x, _HEIGHT - _BOTTOM + 18, "middle") for written, x in across.ticks]
    middle = (_HEIGHT + _TOP - _BOTTOM) / 2
    sideways = _text("dot product", 16, middle, "middle")
    return [
        *parts,
        _text("cosine distance", _WIDTH / 2, _HEIGHT - 8, "middle"),
        f'<g transform="rotate(-90 16 {middle:g})">{sideways}</g>',
    ]


def _text(text: str, x: float, y: float, anchor: str, *, weight: int = 400) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="13"'
        f' font-weight="{weight}" fill="var(--st-text-color)">{html.escape(text)}</text>'
    )
