"""Pairs of a query and a key: which are permitted, and the attention they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Layer, Trace


def permitted_pairs(trace: Trace, layer: int) -> NDArray[np.bool_]:
    """Which keys each query may see, (1 or head, token, token): one for all heads, or one each."""
    mask = trace.layers[layer].mask
    size = trace.shape[2]
    if mask is None:
        return np.ones((1, size, size), dtype=np.bool_)
    return np.isfinite(mask).reshape(-1, size, size)


def permitted(trace: Trace, layer: int, head: int) -> NDArray[np.bool_]:
    """Which keys (columns) each query (row) of one head may see, (token, token)."""
    allowed = permitted_pairs(trace, layer)
    return allowed[head if len(allowed) > 1 else 0]


def head_scores(
    trace: Trace,
    layer: int,
    head: int,
    queries: NDArray[np.float64],
    keys: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What softmax gets from these queries and keys by the head's own rule, float64 (token, token).

    `queries` and `keys` are (token, dim): scaled, soft-capped and masked as this head does it;
    ``-inf`` where a pair is not permitted.
    """
    rule = trace.layers[layer]
    scores = capped(queries @ keys.T, rule)
    if rule.mask is not None:
        scores = scores + (rule.mask if rule.mask.ndim == 2 else rule.mask[head])
    return np.asarray(scores)


def capped(products: NDArray[np.float64], rule: Layer) -> NDArray[np.float64]:
    """Scores of dot products of any shape: scaled and, where the model does, soft-capped."""
    scores = rule.scaling * products
    if rule.softcap is not None:
        scores = rule.softcap * np.tanh(scores / rule.softcap)
    return np.asarray(scores)


def attention_of(
    trace: Trace,
    layer: int,
    head: int,
    queries: NDArray[np.float64],
    keys: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Attention by the head's own rule from other queries and keys, float64 (token, token).

    `queries` and `keys` are (token, dim): scaled, soft-capped and masked as this head does it.
    """
    scores = head_scores(trace, layer, head, queries, keys)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def attention_change(
    trace: Trace,
    layer: int,
    head: int,
    queries: NDArray[np.float64],
    keys: NDArray[np.float64],
) -> float:
    """Largest difference of any attention weight when these vectors take the place of the head's.

    At rounding level for queries and keys from :func:`core.analysis.normalization.normalize`,
    except where the model caps its scores: a soft cap does see what is added to a row.
    """
    changed = attention_of(trace, layer, head, queries, keys)
    return float(np.abs(changed - trace.attention(layer, head)).max())
