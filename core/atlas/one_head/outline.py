"""Which points lie inside an outline that was drawn by hand."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.model.trace import Array


def points_inside(points: Array | Floats, outline: Floats) -> Indices:
    """Indices of the points (point, 2) in the closed outline (corner, 2), ascending.

    Where the outline crosses itself, what it runs around an even number of times is outside.
    """
    if len(outline) < 3:
        return np.zeros(0, dtype=np.intp)
    near = np.flatnonzero(
        ((points >= outline.min(axis=0)) & (points <= outline.max(axis=0))).all(axis=1)
    )
    x, y = points[near].astype(np.float64).T
    inside = np.zeros(near.size, dtype=np.bool_)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, 1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            inside ^= crosses & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return near[inside]
