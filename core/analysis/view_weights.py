"""What the head view needs of a layer: weights of one byte each, and what makes a number exact.

A picture shows at most 256 steps. The number read on hover must be exact, and comes from whatever
is smaller: the weights as float32, or the layer's queries and keys with the logarithm of each row's
sum, from which ``exp(score - log_sum)`` is one weight for the price of one dot product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.pairs import exact_scores

if TYPE_CHECKING:
    from core.model.trace import Array, Trace

STEPS = 255  # that one byte can tell apart, besides nothing
_FLOAT = 4  # bytes of a float32

Bytes = NDArray[np.uint8]
Weighting = Literal["attention", "value", "transformed"]


@dataclass(frozen=True, eq=False)
class ExactWeights:
    """The layer's attention in full: float32 (head, token, key token)."""

    weights: Array


@dataclass(frozen=True, eq=False)
class ExactScores:
    """What a weight is computed from: ``exp(scaling * <q_i, k_j> - log_sum_i)``, soft-capped."""

    queries: Array  # float32 (head, token, dim)
    keys: Array  # float32 (key-value head, key token, dim)
    # float32 (2, head, token): the logarithm of the sum of each row's exponentials, and what
    # rounding took from it, so that their sum has the precision of float64
    log_sums: Array
    scaling: float  # of :class:`core.model.trace.Layer`
    softcap: float | None  # likewise


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer as the head view gets it."""

    steps: Bytes  # uint8 (head, token, key token), ``round(255 * weight / top)``
    top: float  # the weight that 255 stands for: 1 for attention, else the layer's largest
    exact: ExactWeights | ExactScores  # where the exact attention comes from
    permitted: Bytes | None  # from :func:`permitted_bits`
    factor: Array | None  # float32 (head, key token), what attention to each is multiplied by


def weighted_layer(
    trace: Trace, layer: int, weighting: Weighting, norms: Array | None = None
) -> LayerWeights:
    """A layer by the name of its weighting in links.

    Attention alone, times the length of the values, or times that of the transformed values
    (Kobayashi et al. 2020), which is `norms`, float32 (layer, head, key token), and a `ValueError`
    where they are not known.
    """
    if weighting == "attention":
        return layer_weights(trace, layer)
    if weighting == "value":
        return layer_weights(trace, layer, value_norms(trace, layer))
    if norms is None:
        raise ValueError(f"the output projection of {trace.model!r} is not known")
    return layer_weights(trace, layer, norms[layer])


def layer_weights(trace: Trace, layer: int, factor: Array | None = None) -> LayerWeights:
    """The attention of a layer (from 0), times `factor` (head, key token) if given."""
    exact: ExactScores | ExactWeights
    if sends_scores(trace, layer):
        attention, exact = _attention_and_scores(trace, layer)
    else:
        attention = trace.attention(layer)
        exact = ExactWeights(attention)
    weighted = attention if factor is None else attention * factor[:, None, :]
    top = 1.0 if factor is None else float(weighted.max()) or 1.0
    permitted = permitted_bits(trace.layers[layer].mask)
    return LayerWeights(quantise(weighted, top), top, exact, permitted, factor)


def quantise(weights: Array, top: float = 1.0) -> Bytes:
    """Weights from 0 to `top` as uint8 0 to 255, rounded to the nearest; same shape."""
    scaled = weights * np.float32(STEPS / top)
    return np.rint(np.clip(scaled, 0, STEPS)).astype(np.uint8)


def permitted_bits(mask: Array | None) -> Bytes | None:
    """A bit for each (query, key), 1 where some head may attend; None where all may.

    Packed as :func:`numpy.packbits` does, row by row.
    """
    if mask is None:
        return None
    permitted = np.isfinite(mask).reshape(-1, *mask.shape[-2:]).any(axis=0)
    return None if permitted.all() else np.packbits(permitted)


def value_norms(trace: Trace, layer: int) -> Array:
    """|v| of every value vector of a layer, float32 (head, key token), as query heads see them."""
    norms = np.linalg.norm(trace.kv_values[layer], axis=-1)  # (key-value head, key token)
    return np.repeat(norms, trace.group, axis=0)


def payload_size(trace: Trace, layer: int) -> int:
    """The most bytes a layer's attention takes when it is sent, without computing it."""
    heads, pairs = trace.shape[1], len(trace.tokens) * len(trace.key_tokens)
    exact = min(_exact_sizes(trace)) if only_permits(trace, layer) else _exact_sizes(trace)[1]
    return heads * pairs + exact + math.ceil(pairs / 8)


def sends_scores(trace: Trace, layer: int) -> bool:
    """Whether queries and keys are sent instead of the weights as float32.

    They are where they are smaller (from about twice as many tokens as a head has dims), unless the
    layer adds a position bias, or a mask for each head, which only the weights themselves carry.
    """
    as_scores, as_weights = _exact_sizes(trace)
    return only_permits(trace, layer) and as_scores < as_weights


def only_permits(trace: Trace, layer: int) -> bool:
    """Whether a layer's mask only says which pairs are permitted, the same for all heads."""
    mask = trace.layers[layer].mask
    return mask is None or (mask.ndim == 2 and bool(np.isin(mask, (0.0, -np.inf)).all()))


def _exact_sizes(trace: Trace) -> tuple[int, int]:
    """Bytes of :class:`ExactScores` and of :class:`ExactWeights`, for any layer."""
    _, heads, queries, dim = trace.shape
    keys = len(trace.key_tokens)
    vectors = (heads * queries + trace.kv_keys.shape[1] * keys) * dim
    return _FLOAT * (vectors + 2 * heads * queries), _FLOAT * heads * queries * keys


def _attention_and_scores(trace: Trace, layer: int) -> tuple[Array, ExactScores]:
    """Attention, float32 (head, token, key token), and what its numbers are computed from.

    In float64, a head at a time: in float32 a score of 100 has only five decimals.
    """
    rule = trace.layers[layer]
    heads, queries = trace.shape[1:3]
    attention = np.empty((heads, queries, len(trace.key_tokens)), dtype=np.float32)
    log_sums = np.empty((heads, queries))
    for head in range(heads):
        scores = exact_scores(trace, layer, head)
        largest = scores.max(axis=-1, keepdims=True)
        log_sums[head] = largest[:, 0] + np.log(np.exp(scores - largest).sum(axis=-1))
        if rule.sink is not None:
            log_sums[head] = np.logaddexp(log_sums[head], rule.sink[head])
        attention[head] = np.exp(scores - log_sums[head, :, None])
    rounded = log_sums.astype(np.float32)
    return attention, ExactScores(
        queries=trace.queries[layer],
        keys=trace.kv_keys[layer],
        log_sums=np.stack([rounded, (log_sums - rounded).astype(np.float32)]),
        scaling=rule.scaling,
        softcap=rule.softcap,
    )
