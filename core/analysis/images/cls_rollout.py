"""Attention followed from CLS through all layers down to the tokens of the first one."""

from __future__ import annotations

import numpy as np

from core.analysis.anomalies.contribution import value_norms
from core.analysis.arrays import Floats, one_thread, renormalise_rows
from core.analysis.images.patch_scores import cls_position
from core.model.trace import Array, Trace


def cls_rollout(trace: Trace, norms: Array | None = None, *, weighted: bool = False) -> Array:
    """The row of CLS in the attention rollout, float32 (token,); `ValueError` without CLS.

    The product over layers of half the mean over heads of attention and half the identity (Abnar
    and Zuidema 2020, section 3). `weighted` takes, instead of attention, what each token
    contributes: the sum over heads of a_ij |f(v_j)|, rows divided by their sums (Kobayashi et
    al. 2020, section 3). `norms` are |f(v)|, (layer, head, token), of
    ``core.model.weights.output_projection.transformed_norms``; without them |v| stands in, and a
    page must say so. One row is carried down through the layers, which is the product's own row.
    """
    cls = cls_position(trace)
    if cls is None:
        raise ValueError("no CLS to follow attention from")
    flow = np.zeros(trace.shape[2])
    flow[cls] = 1.0
    lengths = value_norms(trace, norms) if weighted else None
    with one_thread():
        for layer in reversed(range(trace.shape[0])):
            step = _mean_step(trace, layer, None if lengths is None else lengths[layer])
            flow = (flow + flow @ step) / 2
    return flow.astype(np.float32)


def _mean_step(trace: Trace, layer: int, lengths: Floats | None) -> Array:
    """Attention of a layer over all heads, or what tokens contribute; rows sum to one."""
    total = np.zeros((trace.shape[2], len(trace.key_tokens)), dtype=np.float32)
    for head in range(trace.shape[1]):
        weights = trace.attention(layer, head)
        total += weights if lengths is None else weights * lengths[head].astype(np.float32)
    return renormalise_rows(total)
