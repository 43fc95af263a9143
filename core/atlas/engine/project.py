"""Queries and keys as points, by the constants of all heads, and how many lie in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.atlas.data import DIMENSIONS, HeadPoints, ProjectedPart
from core.atlas.density import bounds_of, count_heads, join_bounds
from core.atlas.engine.constants import HeadConstants
from core.atlas.engine.shard import Shard
from core.atlas.points import place
from core.vocabulary import STAGES, Stage

Bounds = Mapping[Stage, NDArray[np.float32]]  # (layer, head, 4), as of `bounds_of`
Counts = Mapping[Stage, NDArray[np.uint32]]  # (layer, head, side, cell, cell), queries first


def project(
    vectors_of: Callable[[int, int], tuple[Floats, Floats]],
    constants: HeadConstants,
    layer_numbers: tuple[int, ...],
) -> Iterator[HeadPoints]:
    """Where tokens lie in the pictures of all heads, whose vectors are asked for one by one.

    `vectors_of` gives queries and keys of a (layer, head), float64 (token, dim) each.
    """
    for layer, head in np.ndindex(*constants.c.shape):
        queries, keys = vectors_of(layer, head)
        points = place(queries, keys, constants.planes(layer, head))
        norms = np.linalg.norm(np.vstack([queries, keys]), axis=1).astype(np.float32)
        yield HeadPoints(layer_numbers[layer], head + 1, points, norms)


def project_part(part: Shard, constants: HeadConstants) -> ProjectedPart:
    """Where the queries and keys of a part lie in the pictures of all heads."""
    shape = (*constants.c.shape, 2 * len(part.tokens))
    points = {stage: np.empty((*shape, DIMENSIONS), dtype=np.float32) for stage in STAGES}
    norms = np.empty(shape, dtype=np.float32)
    numbers = part.sums.layer_numbers
    heads = project(part.vectors.of_head, constants, numbers)
    for place_of_head, head in zip(np.ndindex(*constants.c.shape), heads, strict=True):
        norms[place_of_head] = head.norms
        for stage in STAGES:
            points[stage][place_of_head] = head.points[stage]
    return ProjectedPart(
        part.tokens, part.sentences, part.labels, part.index, points, norms, numbers
    )


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
