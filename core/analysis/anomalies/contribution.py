"""What a head attends to, and what it actually moves.

A token whose value is nearly zero can take all the attention and contribute nothing (Kobayashi et
al. 2020, section 4). Values are measured by |f(v_j)|, f(v) = v W_O, where W_O is known; else |v_j|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Floats, one_thread, renormalise_rows
from core.analysis.head_patterns.measure import mean_relative_entropy
from core.analysis.pairs import permitted_pairs
from core.model.trace import Array, Trace

NEARLY_ZERO = 0.1  # of the head's median length: shorter values count as zero


@dataclass(frozen=True, eq=False)
class Columns:
    """How much of a head's attention each key token takes, and how much it contributes."""

    # Mean attention, (layer, head, key token); sums to 1, less a learned sink's share
    attention: Floats
    uniform: Floats  # the same under uniform attention to all permitted keys
    # Share of what the head moves, sum over i of a_ij |f(v_j)|; sums to 1, or 0 if nothing moves
    contribution: Floats
    norms: Floats  # |f(v_j)| or |v_j|, (layer, head, key token)
    entropy: Floats  # H(row) / ln(permitted keys), mean over rows with a choice, (layer, head)
    # The largest mean attention at offset -1, 0 or 1, (layer, head); nan in cross attention, whose
    # queries and keys are places of two texts
    offset: Floats


def columns(trace: Trace, transformed: Array | None = None) -> Columns:
    """Attention to each key token and what it contributes, for all heads.

    `transformed` is |f(v)|, (layer, head, key token), from
    ``core.model.weights.output_projection.transformed_norms``; None uses |v|. Holds one layer's
    attention in memory at a time: 4 bytes x heads x tokens x key tokens.
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
    """|f(v)| if given, else |v|, float64 (layer, head, key token)."""
    if transformed is not None:
        return np.asarray(transformed, dtype=np.float64)
    lengths = np.linalg.norm(trace.kv_values, axis=-1).astype(np.float64)
    return np.repeat(lengths, trace.group, axis=1)


def contributions(weights: Array, norms: Floats) -> Array:
    """|a_ij f(v_j)|, how much each key contributes to each query, scaled like attention.

    Each matrix sums to its number of rows, as attention does, so the two can be compared cell by
    cell and column by column; a row sums to what its token receives, 1 on average. All 0 if nothing
    moves. `weights` is (..., token, key token), `norms` (..., key token).
    """
    carried = weights * norms[..., None, :].astype(np.float32)
    mean = carried.sum(axis=(-1, -2), keepdims=True, dtype=np.float64) / weights.shape[-2]
    return np.divide(carried, mean, out=carried, where=mean > 0, casting="same_kind")


def null_attention(attention: Floats, norms: Floats) -> Floats:
    """Attention to values shorter than `NEARLY_ZERO` of the median, (..., token) to (...).

    0 if all values have the same length, 0.8 if 0.8 of the attention goes to a token with no value,
    1 if all values are zero. If the median is 0, no nonzero value counts as nearly zero. After Vig
    and Belinkov 2019 ("null attention") and Kobayashi et al. 2020, section 4.
    """
    relative = over_median(norms)
    relative = np.where(np.isnan(relative), norms > 0, relative)
    return np.asarray((attention * (relative < NEARLY_ZERO)).sum(axis=-1))


def over_median(norms: Floats) -> Floats:
    """Norms divided by the median of the last axis, (..., token); nan where that is 0."""
    median = np.median(norms, axis=-1, keepdims=True)
    return np.divide(norms, median, out=np.full(norms.shape, np.nan), where=median > 0)


def offset_attention(weights: Array, allowed: Bools) -> Floats:
    """Mean attention to the previous, the same or the next token, whichever is largest, (head,).

    The mean is over the tokens that may attend at that offset; 0 if none may. `weights` is
    (head, token, token), `allowed` the same or (1, token, token).
    """
    means = []
    for offset in (-1, 0, 1):
        pairs = np.diagonal(weights, offset, axis1=-2, axis2=-1).astype(np.float64)
        counts = np.diagonal(allowed, offset, axis1=-2, axis2=-1).sum(axis=-1)
        means.append(pairs.sum(axis=-1) / np.maximum(counts, 1))
    return np.asarray(np.stack(means).max(axis=0))


def without_first(weights: Array, *, cross: bool = False) -> Array:
    """A matrix without its first token, each row divided by what remains of it.

    It shows what a head would do without its sink. A row with nothing left stays 0. The matrix is
    (token, token); with `cross` attention, (token, key token), which loses only the first key.
    """
    return renormalise_rows(weights[0 if cross else 1 :, 1:])
