"""How many points of all parts lie in each cell of every head's planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.density import CELLS, bounds_of, count_cells, join_bounds
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.data import ProjectedPart
    from core.analysis.query_key.clouds import Stage

    Bounds = Mapping[Stage, NDArray[np.float32]]  # (layer, head, 4), as of `bounds_of`
    Counts = Mapping[Stage, NDArray[np.uint32]]  # (layer, head, side, cell, cell), queries first


def part_bounds(part: ProjectedPart) -> Bounds:
    """What the points of a part cover."""
    return {stage: bounds_of(part.points[stage]) for stage in STAGES}


def all_bounds(parts: Sequence[Bounds]) -> Bounds:
    """What the points of all parts cover; the same in any order."""
    return {stage: join_bounds([part[stage] for part in parts]) for stage in STAGES}


def part_counts(part: ProjectedPart, bounds: Bounds) -> Counts:
    """The points of a part in each cell; those of parts add up."""
    size = len(part.tokens)
    counts = {}
    for stage, points in part.points.items():
        layers, heads = points.shape[:2]
        counts[stage] = np.empty((layers, heads, 2, CELLS, CELLS), dtype=np.uint32)
        for head in np.ndindex(layers, heads):
            for side, own in enumerate((slice(None, size), slice(size, None))):
                counts[stage][*head, side] = count_cells(points[head][own], bounds[stage][head])
    return counts


def add_counts(one: Counts, other: Counts) -> Counts:
    """Of the points of both."""
    return {stage: one[stage] + other[stage] for stage in STAGES}
