"""Shapes, as distance to their edge: negative inside, in units of the shape's radius."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _circle(x: Floats, y: Floats) -> Floats:
    return np.hypot(x, y) - 0.9


def _square(x: Floats, y: Floats) -> Floats:
    return np.maximum(np.abs(x), np.abs(y)) - 0.8


def _triangle(x: Floats, y: Floats) -> Floats:
    """Equilateral, its corners at distance 1."""
    return np.maximum(np.abs(x) * 3**0.5 / 2 + y / 2, -y) - 0.5


def _star(x: Floats, y: Floats) -> Floats:
    """Five points at distance 1, notches at distance 0.45."""
    angle = np.arctan2(x, -y)
    sector = 2 * np.pi / 5
    folded = np.abs((angle + sector / 2) % sector - sector / 2)  # 0 at a point, pi / 5 at a notch
    radius = np.hypot(x, y)
    along, across = radius * np.cos(folded), radius * np.sin(folded)
    notch = 0.45 * np.array((np.cos(sector / 2), np.sin(sector / 2)))
    edge = notch - np.array((1.0, 0.0))
    normal = np.array((edge[1], -edge[0])) / np.hypot(*edge)
    distance: Floats = (along - 1) * normal[0] + across * normal[1]
    return distance


def _ring(x: Floats, y: Floats) -> Floats:
    return np.abs(np.hypot(x, y) - 0.7) - 0.25


def _cross(x: Floats, y: Floats) -> Floats:
    far, near = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    return np.maximum(far - 0.95, near - 0.3)


def _bar(x: Floats, y: Floats) -> Floats:
    return np.maximum(np.abs(x) - 1, np.abs(y) - 0.3)


SHAPES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "ring": _ring,
    "cross": _cross,
    "bar": _bar,
}


def coverage(shape: str, x: Floats, y: Floats, radius: float) -> Floats:
    """How much of each pixel the shape covers, 0 to 1, so that edges are smooth.

    Parameters
    ----------
    x, y : offsets of the pixels from the shape's centre, in pixels, in the shape's own directions.
    radius : in pixels.

    >>> coverage("square", np.array([0.0, 8.0, 20.0]), np.zeros(3), radius=10).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.clip(0.5 - radius * SHAPES[shape](x / radius, y / radius), 0, 1)
