"""How many points lie in each cell of a plane: what is drawn where there are too many points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats

CELLS = 64  # along each side of a head's plane
_TOGETHER = 2**18  # points that are counted at once
_TINY = float(np.finfo(np.float32).tiny)
_NARROW = 1e-6  # of the larger coordinate: bounds are at least as far apart


class Density(NamedTuple):
    """Every point of a stage, counted in the cells of its head's plane.

    `counts` are uint32 (layer, head, side, 64, 64), queries first, as in
    :func:`count_cells`; `bounds` float32 (layer, head, 4), as in :func:`bounds_of`.
    """

    counts: NDArray[np.uint32]
    bounds: NDArray[np.floating]


def bounds_of(points: NDArray[np.floating]) -> NDArray[np.float32]:
    """What (..., point, 2 or more) cover in the plane: x from and to, y from and to, (..., 4).

    From infinity to minus infinity where there is no point.
    """
    plane = points[..., :2]
    low, high = plane.min(axis=-2, initial=np.inf), plane.max(axis=-2, initial=-np.inf)
    ends = [low[..., 0], high[..., 0], low[..., 1], high[..., 1]]
    return np.stack(ends, axis=-1).astype(np.float32)


def join_bounds(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """What all parts cover together; the same in any order."""
    every = np.stack(parts)
    low, high = every.min(axis=0), every.max(axis=0)
    return np.where([True, False, True, False], low, high)


def count_cells(
    points: NDArray[np.floating], bounds: Floats | NDArray[np.float32], cells: int = CELLS
) -> NDArray[np.uint32]:
    """Points in each cell, uint32 (cell, cell): rows of y from the lowest, columns of x.

    `points` are (point, 2 or more); `bounds` (4,) as in :func:`bounds_of`. A point on the upper
    bound is in the last cell; points outside of the bounds are not counted.
    """
    x0, x1, y0, y1 = np.asarray(bounds, dtype=np.float64)
    counts = np.zeros(cells * cells, dtype=np.int64)
    for start in range(0, len(points), _TOGETHER):
        x, y = points[start : start + _TOGETHER, :2].astype(np.float64).T
        inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        column = _cell_of(x[inside], x0, x1, cells)
        row = _cell_of(y[inside], y0, y1, cells)
        counts += np.bincount(row * cells + column, minlength=cells * cells)
    return counts.reshape(cells, cells).astype(np.uint32)


def count_heads(points: NDArray[np.floating], bounds: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Queries and keys in each cell of every head's plane, (layer, head, 2, cell, cell).

    `points` are (layer, head, 2 token, 2 or more), queries first; `bounds` (layer, head, 4).
    """
    layers, heads = points.shape[:2]
    counts = np.empty((layers, heads, 2, CELLS, CELLS), dtype=np.uint32)
    for side, own in enumerate(np.split(points, 2, axis=2)):
        for head in np.ndindex(layers, heads):
            counts[*head, side] = count_cells(own[head], bounds[head])
    return counts


def _cell_of(values: Floats, low: float, high: float, cells: int) -> NDArray[np.intp]:
    width = max(high - low, _NARROW * max(abs(low), abs(high)), _TINY)
    return np.minimum((values - low) / width * cells, cells - 1).astype(np.intp)
