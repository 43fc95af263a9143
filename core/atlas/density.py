"""Planes of many points: counts in cells, and a part of a plane as points or finer cells.

Counts are what is drawn where there are too many points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices
from core.model.trace import Array

CELLS = 64  # along each side of a head's plane
_TOGETHER = 2**18  # points that are counted at once
_TINY = float(np.finfo(np.float32).tiny)
_NARROW = 1e-6  # of the larger coordinate: bounds are at least as far apart
FINE_CELLS = 128  # along each side of a part, and fewer where each would have few points
MAX_TOKENS = 3_000  # whose points are drawn
_MIN_MEAN = 4  # points in a cell, on average: fewer look like noise
_MIN_CELLS = 16


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


class Plane(NamedTuple):
    """Some tokens in the plane of one head: float32 (token, 2) each, and the first one's index."""

    first: int
    queries: Array
    keys: Array


@dataclass(frozen=True, eq=False)
class Look:
    """A part of one head's plane.

    Attributes
    ----------
    part : x from and to, y from and to.
    queries, keys : how many are in it.
    counts : uint32 (2, cell, cell), queries first; rows of y from the lowest, columns of x. The
        fewer points, the larger the cells.
    tokens : those with a query or a key in it, ascending; None where there are too many to draw.
    points : float32 (2 token, 2) of these, queries first; some are outside of the part.
    """

    part: Floats
    queries: int
    keys: int
    counts: NDArray[np.uint32]
    tokens: Indices | None
    points: Array


def look_at(
    planes: Iterable[Plane], part: Floats, max_tokens: int = MAX_TOKENS, cells: int = FINE_CELLS
) -> Look:
    """Count a part (4,) of a head's plane, and find its tokens if they are few enough.

    One chunk of tokens is in memory at a time.
    """
    counts = np.zeros((2, cells, cells), dtype=np.uint32)
    tokens: list[Indices] = []
    points: list[tuple[Array, Array]] = []
    few = True
    for plane in planes:
        sides = plane.queries, plane.keys
        inside = [_inside(side, part) for side in sides]
        for kind, (side, within) in enumerate(zip(sides, inside, strict=True)):
            counts[kind] += count_cells(side[within], part, cells)
        either = np.flatnonzero(inside[0] | inside[1])
        few = few and sum(map(len, tokens)) + either.size <= max_tokens
        if few:
            tokens.append(either + plane.first)
            points.append((plane.queries[either], plane.keys[either]))
    both = [np.concatenate([each[kind] for each in points]) for kind in (0, 1)] if points else []
    return Look(
        part=part,
        queries=int(counts[0].sum()),
        keys=int(counts[1].sum()),
        counts=_without_noise(counts),
        tokens=np.concatenate(tokens) if few and tokens else np.zeros(0, np.intp) if few else None,
        points=np.vstack(both) if few and both else np.zeros((0, 2), dtype=np.float32),
    )


def _without_noise(counts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The counts of four cells as one, until cells have enough points on average."""
    while counts.shape[1] >= 2 * _MIN_CELLS and counts.sum() < _MIN_MEAN * counts[0].size:
        half = counts.shape[1] // 2
        counts = counts.reshape(2, half, 2, half, 2).sum(axis=(2, 4), dtype=np.uint32)
    return counts


def _inside(points: Array, part: Floats) -> NDArray[np.bool_]:
    x, y = points[:, 0], points[:, 1]
    return np.asarray((x >= part[0]) & (x <= part[1]) & (y >= part[2]) & (y <= part[3]))
