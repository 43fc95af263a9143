"""One layer as sent to the browser: what its weights are computed from, and what is drawn.

A layer has millions of weights, but a page reads few of them at a time: queries, keys and the
logarithm of each row's sum give one weight for the price of a dot product. Where the weights
themselves are smaller, they are sent instead. A picture takes one byte per weight, since it shows
at most 256 steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, one_thread
from core.analysis.pairs import exact_scores
from core.model.trace import Array, Trace

QUANTIZED_STEPS = 255  # that one byte can distinguish, besides zero
_FLOAT = 4  # bytes of a float32

Bytes = NDArray[np.uint8]
Weighting = Literal["attention", "value", "transformed"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerPayload:
    """One layer: ``weight = exp(score - log_sum) * factor``, and 0 where not permitted.

    ``score = scaling * <q_i, k_j> + bias``, soft-capped before the bias is added. None means that
    the layer does not have it, or the view does not need it.
    """

    scaling: float = 1.0  # of :class:`core.model.trace.Layer`
    softcap: float | None = None  # likewise
    queries: Array | None = None  # float32 (head, token, dim)
    keys: Array | None = None  # float32 (key-value head, key token, dim)
    sums: Array | None = None  # from :func:`log_sums`
    bias: Array | None = None  # float32 (1 or head, token, key token)
    permitted: Bytes | None = None  # from :func:`permitted_bits`
    weights: Array | None = None  # float32 (head, token, key token), instead of queries and keys
    steps: Bytes | None = None  # uint8 (head, token, key token), ``round(255 * weight / top)``
    top: float = 1.0  # the weight that 255 stands for: 1 for attention, else the layer's largest
    factor: Array | None = None  # float32 (head, key token), which attention is multiplied by

    @classmethod
    def of(
        cls, trace: Trace, layer: int, head: int | None = None, sums: Array | None = None
    ) -> LayerPayload:
        """Queries, keys and sums of a layer, or of one head in it (both from 0).

        `sums` are those of :func:`log_sums`, if already known.
        """
        rule, mask = trace.layers[layer], trace.layers[layer].mask
        heads, key_heads = slice(None), slice(None)
        if head is not None:
            heads, key_heads = (slice(index, index + 1) for index in (head, head // trace.group))
            mask = mask if mask is None or mask.ndim == 2 else mask[heads]
        return cls(
            scaling=rule.scaling,
            softcap=rule.softcap,
            queries=trace.queries[layer, heads],
            keys=trace.kv_keys[layer, key_heads],
            sums=log_sums(trace, layer, range(trace.shape[1])[heads]) if sums is None else sums,
            bias=_bias(mask),
            permitted=permitted_bits(mask),
        )

    @classmethod
    def drawn(
        cls,
        trace: Trace,
        layer: int,
        weighting: Weighting = "attention",
        norms: Array | None = None,
    ) -> LayerPayload:
        """A layer with its picture, for a weighting by its name in links.

        The weighting is attention alone, attention times the length of the values, or times that of
        the transformed values (Kobayashi et al. 2020): `norms`, float32 (layer, head, key token),
        without which it raises `ValueError`.
        """
        attention, factor = trace.attention(layer), _factor(trace, layer, weighting, norms)
        weighted = attention if factor is None else attention * factor[:, None, :]
        top = 1.0 if factor is None else float(weighted.max()) or 1.0
        if sends_scores(trace, layer):
            exact = cls.of(trace, layer)
        else:
            exact = cls(weights=attention, permitted=permitted_bits(trace.layers[layer].mask))
        return replace(exact, steps=quantise(weighted, top), top=top, factor=factor)


def log_sums(trace: Trace, layer: int, heads: Sequence[int] | None = None) -> Array:
    """The logarithm of each row's sum of exponentials, float32 (1 or 2, 2, head, token).

    Over all keys and a sink and, for an image, over the patches alone. Each is two floats, the
    logarithm and its rounding error, so that their sum has the precision of float64: in
    float32 a score of 100 has only five decimals.
    """
    sink = trace.layers[layer].sink
    parts = trace.input.key_parts
    heads = range(trace.shape[1]) if heads is None else heads
    sums = np.empty((len(parts), len(heads), trace.shape[2]))
    with one_thread():
        for place, head in enumerate(heads):
            scores = exact_scores(trace, layer, head)
            sums[:, place] = [_log_sum(scores[:, part]) for part in parts]
            if sink is not None:
                sums[0, place] = np.logaddexp(sums[0, place], sink[head])
    rounded = sums.astype(np.float32)
    return np.stack([rounded, (sums - rounded).astype(np.float32)], axis=1)


def quantise(weights: Array, top: float = 1.0) -> Bytes:
    """Weights from 0 to `top` as uint8 0 to 255, rounded to nearest; same shape."""
    scaled = weights * np.float32(QUANTIZED_STEPS / top)
    return np.rint(np.clip(scaled, 0, QUANTIZED_STEPS)).astype(np.uint8)


def permitted_bits(mask: Array | None) -> Bytes | None:
    """One bit per (query, key), 1 where some head may attend; None where all may.

    Packed as by :func:`numpy.packbits`, row by row.
    """
    if mask is None:
        return None
    permitted = np.isfinite(mask).reshape(-1, *mask.shape[-2:]).any(axis=0)
    return None if permitted.all() else np.packbits(permitted)


def drawn_size(trace: Trace, layer: int) -> int:
    """The most bytes that :meth:`LayerPayload.drawn` takes, without computing it."""
    exact = vectors_size(trace, layer) if sends_scores(trace, layer) else _weights_size(trace)
    pairs = len(trace.tokens) * len(trace.key_tokens)
    return trace.shape[1] * pairs + exact + math.ceil(pairs / 8)


def vectors_size(trace: Trace, layer: int) -> int:
    """The size in bytes of a layer's queries, keys, sums and bias, without computing them."""
    _, heads, queries, dim = trace.shape
    vectors = (heads * queries + trace.kv_keys.shape[1] * len(trace.key_tokens)) * dim
    sums = 2 * len(trace.input.key_parts) * heads * queries
    bias = _bias(trace.layers[layer].mask)
    return _FLOAT * (vectors + sums + (0 if bias is None else bias.size))


def sends_scores(trace: Trace, layer: int) -> bool:
    """Whether queries and keys are sent with a picture instead of the weights as float32.

    They are if they are smaller (from about twice as many tokens as a head has dims), unless the
    layer has a position bias, or a mask for each head, which is as large as the weights.
    """
    only_permits = _bias(trace.layers[layer].mask) is None
    return only_permits and vectors_size(trace, layer) < _weights_size(trace)


def _factor(trace: Trace, layer: int, weighting: Weighting, norms: Array | None) -> Array | None:
    """The factor on attention to each key, (head, key token); None for no factor."""
    if weighting == "attention":
        return None
    if weighting == "value":
        lengths = np.linalg.norm(trace.kv_values[layer], axis=-1)  # (key-value head, key token)
        return np.repeat(lengths, trace.group, axis=0)
    if norms is None:
        raise ValueError(f"the output projection of {trace.model!r} is not known")
    return norms[layer]


def _weights_size(trace: Trace) -> int:
    return _FLOAT * trace.shape[1] * len(trace.tokens) * len(trace.key_tokens)


def _bias(mask: Array | None) -> Array | None:
    """The mask, (1 or head, token, key token), unless one bit per pair says it all."""
    if mask is None or not mask.any():
        return None
    masks = mask.reshape(-1, *mask.shape[-2:])
    return None if len(masks) == 1 and np.isin(mask, (0.0, -np.inf)).all() else masks


def _log_sum(scores: Floats) -> Floats:
    """The logarithm of each row's sum of exponentials, (token,)."""
    largest = scores.max(axis=1)
    return np.asarray(largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1)))
