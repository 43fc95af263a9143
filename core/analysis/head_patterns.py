"""Which pattern a head follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.trace import softmax

if TYPE_CHECKING:
    from core.model.trace import Array, Trace


def attention_at_offset(trace: Trace, offset: int) -> Array:
    """Mean attention from each token to the one `offset` positions after it (before, if negative).

    Returns float32 (layer, head). Tokens that have no such neighbour do not count; a text of one
    token gives zeros. After Clark et al. 2019, section 3.1.
    """
    layers, heads, tokens, _ = trace.shape
    if abs(offset) >= tokens:
        return np.zeros((layers, heads), dtype=np.float32)
    rows = [
        np.diagonal(softmax(trace.scores(layer)), offset, axis1=1, axis2=2).mean(axis=1)
        for layer in range(layers)
    ]
    return np.stack(rows)
