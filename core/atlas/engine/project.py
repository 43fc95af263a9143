"""Queries and keys as points, by the constants of all heads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.analysis.arrays import Floats
from core.atlas.data import DIMENSIONS, CorpusTexts, ProjectedPart
from core.atlas.engine.constants import HeadConstants
from core.atlas.points import place
from core.vocabulary import STAGES


def project_part(
    texts: CorpusTexts,
    vectors_of: Callable[[int, int], tuple[Floats, Floats]],
    constants: HeadConstants,
    layer_numbers: tuple[int, ...],
    index: int = 0,
) -> ProjectedPart:
    """Where queries and keys of some sentences lie in the pictures of all heads.

    `vectors_of` gives those of a (layer, head), float64 (token, dim) each; heads are asked for one
    by one.
    """
    shape = (*constants.c.shape, 2 * len(texts.tokens))
    points = {stage: np.empty((*shape, DIMENSIONS), dtype=np.float32) for stage in STAGES}
    norms = np.empty(shape, dtype=np.float32)
    for layer, head in np.ndindex(*constants.c.shape):
        queries, keys = vectors_of(layer, head)
        norms[layer, head] = np.linalg.norm(np.vstack([queries, keys]), axis=1)
        for stage, placed in place(queries, keys, constants.planes(layer, head)).items():
            points[stage][layer, head] = placed
    return ProjectedPart(
        texts.tokens, texts.sentences, texts.labels, index, points, norms, layer_numbers
    )
