"""Queries and keys as points, by the constants of all heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from core.analysis.arrays import Floats
from core.atlas.data import DIMENSIONS, HeadPoints, ProjectedPart
from core.atlas.engine.constants import HeadConstants
from core.atlas.engine.shard import Shard
from core.atlas.points import place
from core.vocabulary import STAGES


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
