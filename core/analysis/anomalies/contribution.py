"""What a head attends to, beside what it moves.

A token whose value is nearly zero can take all the attention and give nothing (Kobayashi et al.
2020, section 4). Values count by |f(v_j)|, f(v) = v W_O, where W_O is known, else by |v_j|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Floats, one_thread, renormalise_rows
from core.analysis.head_patterns.measure import mean_relative_entropy
from core.analysis.pairs import permitted_pairs
from core.model.trace import Array, Trace

NEARLY_ZERO = 0.1  # of the head's median length: values under it


@dataclass(frozen=True, eq=False)
class Columns:
    """What each key token takes of a head's attention, and what it gives."""

    # Mean attention to each, (layer, head, key token); sums to 1, less a learned sink's share
    attention: Floats
    uniform: Floats  # the same under uniform attention to all permitted keys
    # Of what the head moves, the sum over i of a_ij |f(v_j)|; sums to 1, or 0 where nothing moves
    contribution: Floats
    norms: Floats  # |f(v_j)| or |v_j|, (layer, head, key token)
    entropy: Floats  # H(row) / ln(permitted keys), mean over rows with a choice, (layer, head)
    # The largest mean attention at offset -1, 0 or 1, (layer, head); nan in cross attention, whose
    # queries and keys are places of two texts
    offset: Floats


def columns(trace: Trace, transformed: Array | None = None) -> Columns:
    """Attention to each key token and what it contributes, for all heads.

    `transformed` is |f(v)|, (layer, head, key token), of
    ``core.model.weights.output_projection.transformed_norms``; None takes |v|. One layer's
    attention, 4 bytes x heads x tokens x key tokens, is in memory at a time.
    """
    norms = contribution_norms(trace, transformed)
    no_offset = np.full(trace.shape[1], np.nan)
    layers = []
    with one_thread():
        for layer in range(trace.shape[0]):
            weights = trace.attention(layer)
            allowed = permitted_pairs(trace, layer)
            uniform = (allowed / allowed.sum(axis=-1, keepdims=True)).mean(axis=1)
            layers.append(
                {
                    "attention": weights.mean(axis=1, dtype=np.float64),
                    "uniform": np.broadcast_to(uniform, norms[layer].shape),
                    "contribution": contributions(weights, norms[layer]).mean(
                        axis=1, dtype=np.float64
                    ),
                    "entropy": mean_relative_entropy(weights, allowed),
                    "offset": offset_attention(weights, allowed)
                    if trace.source is None
                    else no_offset,
                }
            )
    return Columns(
        norms=norms, **{name: np.stack([each[name] for each in layers]) for name in layers[0]}
    )


def contribution_norms(trace: Trace, transformed: Array | None = None) -> Floats:
    """|f(v)| where it is given, else |v|, float64 (layer, head, key token)."""
    if transformed is not None:
        return np.asarray(transformed, dtype=np.float64)
    lengths = np.linalg.norm(trace.kv_values, axis=-1).astype(np.float64)
    return np.repeat(lengths, trace.group, axis=1)


def contributions(weights: Array, norms: Floats) -> Array:
    """|a_ij f(v_j)|, how much each key gives each query, scaled to the total of the attention.

    Each matrix sums to the number of its rows, as attention does, so the two compare cell by cell
    and column by column; a row sums to what its token receives, 1 on average. All 0 where nothing
    moves. `weights` is (..., token, key token), `norms` (..., key token).
    """
    carried = weights * norms[..., None, :].astype(np.float32)
    mean = carried.sum(axis=(-1, -2), keepdims=True, dtype=np.float64) / weights.shape[-2]
    return np.divide(carried, mean, out=carried, where=mean > 0, casting="same_kind")


def null_attention(attention: Floats, norms: Floats) -> Floats:
    """Attention to values under `NEARLY_ZERO` of the head's median norm, (..., token) to (...).

    So it is 0 where all values have one length, 0.8 where 0.8 of the attention rests on a token
    with no value, and 1 where all are zero; where the median is 0, any value with a length counts
    as one. After Vig and Belinkov 2019 ("null attention") and Kobayashi et al. 2020, section 4.
    """
    relative = over_median(norms)
    relative = np.where(np.isnan(relative), norms > 0, relative)
    return np.asarray((attention * (relative < NEARLY_ZERO)).sum(axis=-1))


def over_median(norms: Floats) -> Floats:
    """Norms over the median of the last axis, (..., token); nan where that is 0."""
    median = np.median(norms, axis=-1, keepdims=True)
    return np.divide(norms, median, out=np.full(norms.shape, np.nan), where=median > 0)


def offset_attention(weights: Array, allowed: Bools) -> Floats:
    """Mean attention to the previous token, itself or the next, whichever is largest, (head,).

    The mean is over the tokens that may see the one at that offset; 0 where none may. `weights` is
    (head, token, token), `allowed` that or (1, token, token).
    """
    means = []
    for offset in (-1, 0, 1):
        pairs = np.diagonal(weights, offset, axis1=-2, axis2=-1).astype(np.float64)
        counts = np.diagonal(allowed, offset, axis1=-2, axis2=-1).sum(axis=-1)
        means.append(pairs.sum(axis=-1) / np.maximum(counts, 1))
    return np.asarray(np.stack(means).max(axis=0))


def without_first(weights: Array, *, cross: bool = False) -> Array:
    """A matrix without its first token, rows divided by what remains of them.

    It shows what a head would do without its sink. A row with nothing left stays 0. From (token,
    token), or from (token, key token) of `cross` attention, which loses only the first key.
    """
    return renormalise_rows(weights[0 if cross else 1 :, 1:])
