"""A part's queries and keys as points, by the constants of all heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import DIMENSIONS, ProjectedPart
from core.atlas.engine.constants import HeadConstants
from core.atlas.engine.shard import Shard, join_tokens, pick_tokens
from core.atlas.points import place
from core.model.trace import Array
from core.vocabulary import STAGES


def project_part(part: Shard, constants: HeadConstants) -> ProjectedPart:
    """Where the queries and keys of a part lie in the pictures of all heads."""
    layers, heads = constants.c.shape
    size = len(part.tokens)
    points = {
        stage: np.empty((layers, heads, 2 * size, DIMENSIONS), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * size), dtype=np.float32)
    for layer, head in np.ndindex(layers, heads):
        queries, keys = part.vectors.of_head(layer, head)
        norms[layer, head] = np.linalg.norm(np.vstack([queries, keys]), axis=1)
        for stage, placed in place(queries, keys, constants.planes(layer, head)).items():
            points[stage][layer, head] = placed
    return ProjectedPart(
        part.index,
        part.tokens,
        part.texts,
        part.labels,
        points=points,
        norms=norms,
        layer_numbers=part.sums.layer_numbers,
    )


def pick(part: ProjectedPart, numbers: NDArray[np.int64]) -> ProjectedPart | None:
    """Those of these sentences that a projected part has; None where it has none."""
    inside = np.isin(part.tokens.sentence, numbers)
    if not inside.any():
        return None
    wanted = np.isin(part.numbers, numbers)
    both = np.concatenate([inside, inside])
    return replace(
        part,
        tokens=pick_tokens(part.tokens, inside),
        sentences=tuple(compress(part.sentences, wanted)),
        labels=tuple(compress(part.labels, wanted)),
        points={stage: points[:, :, both] for stage, points in part.points.items()},
        norms=part.norms[:, :, both],
    )


def join_projected(parts: Sequence[ProjectedPart]) -> ProjectedPart:
    """Several parts as one, in this order."""
    sides = [np.split(np.arange(part.norms.shape[2]), 2) for part in parts]

    def joined(arrays: Sequence[Array]) -> Array:
        """Arrays whose third axis has queries, then keys."""
        taken = [
            array[:, :, own[side]]
            for side in (0, 1)
            for array, own in zip(arrays, sides, strict=True)
        ]
        return np.concatenate(taken, axis=2)

    return replace(
        parts[0],
        tokens=join_tokens([part.tokens for part in parts]),
        sentences=tuple(text for part in parts for text in part.sentences),
        labels=tuple(label for part in parts for label in part.labels),
        points={stage: joined([part.points[stage] for part in parts]) for stage in STAGES},
        norms=joined([part.norms for part in parts]),
    )
