"""What is seen of a part of one head's plane: points where they are few, else counts in cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices
from core.atlas.density.cells import count_cells
from core.model.trace import Array

FINE_CELLS = 128  # along each side of a part, and fewer where each would have few points
MAX_TOKENS = 3_000  # whose points are drawn
_MIN_MEAN = 4  # points in a cell, on average: fewer look like noise
_MIN_CELLS = 16


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
