"""One patch in all heads of all layers: what it attends to, and what attends to it, on the grid."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import one_thread, renormalise_rows
from core.analysis.images.patch_scores import attention_from, patches_of
from core.model.trace import Array, Trace


def attention_of_patch(trace: Trace, query: int, *, only_patches: bool = False) -> Array:
    """What a query token, a patch or CLS, gives to the patches in every head.

    float32 (layer, head, row, column).

    With `only_patches` each map is divided by its sum, as if CLS and registers were not there; a
    map of zeros stays zero. Only one row of each head is worked out. `query` is a place among the
    tokens: an IndexError where there is no such token.
    """
    _check(trace, query)
    patches = patches_of(trace)
    with one_thread():
        rows = np.stack([attention_from(trace, each, query) for each in range(trace.shape[0])])
    chosen = rows[..., patches.tokens]
    shown = renormalise_rows(chosen) if only_patches else chosen
    return shown.reshape(*rows.shape[:2], patches.rows, patches.columns)


def attention_to_patch(trace: Trace, key: int, *, only_patches: bool = False) -> Array:
    """What each patch gives to a key token in every head, float32 (layer, head, row, column).

    A column needs the sums of all rows, so each head's whole matrix is worked out in turn, (token,
    token) float32 at a time. With `only_patches` every row is divided by what it gives to patches,
    before the column is taken (the key is a patch then, else a ValueError). An IndexError where
    there is no such token.
    """
    _check(trace, key)
    patches = patches_of(trace)
    if only_patches and not patches.tokens.start <= key < patches.tokens.stop:
        raise ValueError("only patches are left: the key is none of them")
    layers, heads = trace.shape[:2]
    maps = np.empty((layers, heads, patches.count), dtype=np.float32)
    with one_thread():
        for layer in range(layers):
            for head in range(heads):
                rows = trace.attention(layer, head)[patches.tokens]
                column = rows[:, key]
                if only_patches:
                    sums = rows[:, patches.tokens].sum(axis=1)
                    column = np.divide(column, sums, out=np.zeros_like(column), where=sums > 0)
                maps[layer, head] = column
    return maps.reshape(layers, heads, patches.rows, patches.columns)


def _check(trace: Trace, token: int) -> None:
    if not 0 <= token < len(trace.tokens):
        raise IndexError(f"token {token} of an image with tokens 0 to {len(trace.tokens) - 1}")
