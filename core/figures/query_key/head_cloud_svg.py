"""One head's queries and keys in the plane as SVG, for reports: a picture without a script."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import palette

MAX_TOKENS = 1500  # drawn, of a random sample where there are more: 150 kB
_WIDTH, _HEIGHT, _MARGIN = 640, 420, 12  # pixels
_RADIUS = 2.2
_SEED = 0


def head_cloud_svg(points: NDArray[np.floating], title: str) -> str:
    """Queries as green discs and keys as pink diamonds, both axes to one scale.

    `points` are (2 token, 2 or more), queries first; the first two axes count. `title` is HTML.
    """
    count = len(points) // 2
    generator = np.random.default_rng(_SEED)
    drawn = np.sort(generator.permutation(count)[:MAX_TOKENS])
    places = _on_screen(points[:, :2].astype(np.float64))
    discs = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>' for x, y in places[drawn])
    r = _RADIUS * 1.25
    diamonds = "".join(
        f'<path d="M{x:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}z"/>'
        for x, y in places[count + drawn]
    )
    light, dark = palette("light"), palette("dark")
    return (
        f"<style>.queries{{fill:{light.query}}}.keys{{fill:{light.key}}}"
        f"@media (prefers-color-scheme:dark){{.queries{{fill:{dark.query}}}"
        f".keys{{fill:{dark.key}}}}}</style>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" style="max-width:{_WIDTH}px;width:100%">'
        f'<title>{title}</title><g class="keys">{diamonds}</g><g class="queries">{discs}</g></svg>'
    )


def _on_screen(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points within the frame, the second axis upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    spans = np.where(high > low, high - low, 1)
    scale = (np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN) / spans
    middle = np.array([_WIDTH, _HEIGHT]) / 2
    return np.asarray(middle + (points - (low + high) / 2) * scale.min() * [1, -1])
