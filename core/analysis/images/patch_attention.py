"""What a patch, or CLS, attends to and what attends to it: in each head, or through all layers."""

from __future__ import annotations

import numpy as np

from core.analysis.anomalies.contribution import contribution_norms
from core.analysis.arrays import Floats, one_thread, renormalise_rows
from core.analysis.images.patch_scores import attention_from, cls_position, patches_of
from core.model.trace import Array, Trace


def attention_of_patch(trace: Trace, query: int, *, only_patches: bool = False) -> Array:
    """The attention of a query token, a patch or CLS, to the patches in every head.

    float32 (layer, head, row, column).

    With `only_patches` each map is divided by its sum, as if CLS and registers were not there; a
    map of zeros stays zero. Only one row per head is computed. `query` is a position among the
    tokens; raises IndexError if there is no such token.
    """
    _check(trace, query)
    patches = patches_of(trace)
    with one_thread():
        rows = np.stack([attention_from(trace, each, query) for each in range(trace.shape[0])])
    chosen = rows[..., patches.tokens]
    maps = renormalise_rows(chosen) if only_patches else chosen
    return maps.reshape(*rows.shape[:2], patches.rows, patches.columns)


def attention_to_patch(trace: Trace, key: int, *, only_patches: bool = False) -> Array:
    """The attention of each patch to a key token in every head, float32 (layer, head, row, column).

    A column needs the sums of all rows, so each head's whole matrix is computed in turn, one
    (token, token) float32 at a time. With `only_patches` every row is divided by its attention to
    patches before the column is taken (the key must then be a patch, else ValueError). Raises
    IndexError if there is no such token.
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


def cls_rollout(trace: Trace, norms: Array | None = None, *, weighted: bool = False) -> Array:
    """The row of CLS in the attention rollout, float32 (token,); `ValueError` without CLS.

    The product over layers of half the attention averaged over heads and half the identity (Abnar
    and Zuidema 2020, section 3). `weighted` replaces attention by what each token
    contributes: the sum over heads of a_ij |f(v_j)|, rows divided by their sums (Kobayashi et
    al. 2020, section 3). `norms` are |f(v)|, (layer, head, token), from
    ``core.model.weights.output_projection.transformed_norms``; without them |v| is used, and the
    page must say so. Only CLS's row is carried through the layers: it is that row of the product.
    """
    cls = cls_position(trace)
    if cls is None:
        raise ValueError("no CLS to follow attention from")
    flow = np.zeros(trace.shape[2])
    flow[cls] = 1.0
    lengths = contribution_norms(trace, norms) if weighted else None
    with one_thread():
        for layer in reversed(range(trace.shape[0])):
            step = _mean_step(trace, layer, None if lengths is None else lengths[layer])
            flow = (flow + flow @ step) / 2
    return flow.astype(np.float32)


def _mean_step(trace: Trace, layer: int, lengths: Floats | None) -> Array:
    """A layer's attention averaged over heads, or what tokens contribute; rows sum to one."""
    total = np.zeros((trace.shape[2], len(trace.key_tokens)), dtype=np.float32)
    for head in range(trace.shape[1]):
        weights = trace.attention(layer, head)
        total += weights if lengths is None else weights * lengths[head].astype(np.float32)
    return renormalise_rows(total)


def _check(trace: Trace, token: int) -> None:
    if not 0 <= token < len(trace.tokens):
        raise IndexError(f"token {token} of an image with tokens 0 to {len(trace.tokens) - 1}")
