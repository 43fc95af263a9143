"""Pairs of a query and a key: which are permitted, their scores, and the resulting attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from core.analysis.arrays import Bools, Floats
    from core.model.trace import Array, Trace


def permitted_pairs(trace: Trace, layer: int) -> Bools:
    """Which keys each query may see, (1 or head, token, key): one for all heads, or one each."""
    mask, size = trace.layers[layer].mask, (trace.shape[2], trace.kv_keys.shape[2])
    if mask is None:
        return np.ones((1, *size), dtype=np.bool_)
    return np.isfinite(mask).reshape(-1, *size)


def permitted(trace: Trace, layer: int, head: int) -> Bools:
    """Which keys (columns) each query (row) of one head may see, (token, token)."""
    allowed = permitted_pairs(trace, layer)
    return allowed[head if len(allowed) > 1 else 0]


def permitted_somewhere(trace: Trace) -> Bools:
    """Which keys (columns) each query (row) may see in some layer and head, (token, token)."""
    layers = [permitted_pairs(trace, layer).any(axis=0) for layer in range(trace.shape[0])]
    return np.logical_or.reduce(layers)


def uniform_attention(allowed: Bools) -> Array:
    """Each row uniform over its permitted keys; float32, same shape as `allowed`."""
    weights = allowed.astype(np.float32)
    weights /= np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    return weights


def reach_of_layers(trace: Trace) -> tuple[int, ...]:
    """How many tokens away the farthest key is that any head of a layer permits, (layer,).

    If less than the number of tokens minus one, attention is local: a window around the query.
    """
    queries, keys = np.arange(trace.shape[2]), np.arange(trace.kv_keys.shape[2])
    distances = np.abs(queries[:, None] - keys)
    seen = (permitted_pairs(trace, layer).any(axis=0) for layer in range(trace.shape[0]))
    return tuple(int((distances * pairs).max()) for pairs in seen)


def head_vectors(trace: Trace, layer: int, head: int) -> tuple[Floats, Floats]:
    """Queries and keys of one head, float64 (token, dim) each."""
    queries, keys = trace.queries[layer, head], trace.kv_keys[layer, head // trace.group]
    return queries.astype(np.float64), keys.astype(np.float64)


def exact_scores(trace: Trace, layer: int, head: int) -> Floats:
    """The scores of one head, (token, token); ``-inf`` where a pair is not permitted.

    In float64; :meth:`core.model.trace.Trace.scores` are float32, with five decimals at 100.
    """
    queries, keys = head_vectors(trace, layer, head)
    return trace.layers[layer].logits(queries @ keys.T, head)
