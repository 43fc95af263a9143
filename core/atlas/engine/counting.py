"""How many points of all parts lie in each cell of every head's planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import ProjectedPart
from core.atlas.density import bounds_of, count_heads, join_bounds
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
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
    return {stage: count_heads(part.points[stage], bounds[stage]) for stage in part.points}


def add_counts(one: Counts, other: Counts) -> Counts:
    """Of the points of both."""
    return {stage: one[stage] + other[stage] for stage in STAGES}
