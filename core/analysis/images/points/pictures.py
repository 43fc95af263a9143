"""What a picture of patches as points needs: small pictures of them, and who attends to whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.analysis.arrays import Floats
from core.model.trace import Array, Patches

MAX_SIDE = 24  # pixels of a patch's picture; no point is drawn larger


def thumbnails(patches: Patches, max_side: int = MAX_SIDE) -> Patches:
    """The image with each patch at most `max_side` pixels.

    Patches shrink by a whole number, each pixel the mean of those it stands for; so a side becomes
    its largest divisor that is small enough.
    """
    side = next(each for each in range(max_side, 0, -1) if patches.size % each == 0)
    if side >= patches.size:
        return patches
    step = patches.size // side
    blocks = patches.pixels.reshape(patches.rows * side, step, patches.columns * side, step, 3)
    pixels = np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)
    return replace(patches, pixels=pixels, size=side)


def partners(attention: Array) -> Floats:
    """For each query the key it attends to most, for each key the query that gives it most.

    `attention` is (token, token). Returns (query + key, 2), queries first: the place of the other
    token and the weight; of equals the first.
    """
    keys, queries = attention.argmax(axis=1), attention.argmax(axis=0)
    places = np.concatenate([keys, queries]).astype(np.float64)
    weights = np.concatenate([attention.max(axis=1), attention.max(axis=0)]).astype(np.float64)
    return np.column_stack([places, weights])
