"""Views over all heads and layers at once: attention rollout, and the mean of everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np

from core.analysis.pairs import permitted_pairs, uniform_attention
from core.model.trace import Array, Trace

Overall = Literal["mean", "rollout"]


def overall_attention(trace: Trace, kind: Overall) -> Array:
    """The attention of the model as a whole, float32 (token, key token), rows summing to one.

    "mean" is over all heads of all layers, "rollout" the :func:`rollout` of the layers' means.
    """
    layers = (trace.attention(layer).mean(axis=0) for layer in range(trace.shape[0]))
    return _join(layers, kind)


def uniform_overall(trace: Trace, kind: Overall) -> Array:
    """The same if every head attended uniformly to all it may see, float32 (token, key token)."""
    layers = (
        uniform_attention(permitted_pairs(trace, layer)).mean(axis=0)
        for layer in range(trace.shape[0])
    )
    return _join(layers, kind)


def rollout(layers: Iterable[Array]) -> Array:
    """How attention passes from the last layer down to the tokens, float32 (token, token).

    The product over layers, the first one rightmost, of half the layer's attention and half the
    identity, which stands for the residual connection (Abnar and Zuidema 2020, section 3).

    `layers` begin with the first, each (token, token) with rows that sum to one; with none of them
    it raises a ValueError, and for cross attention, whose rows and columns are different tokens.
    """
    flow: Array | None = None
    for weights in layers:
        if weights.shape[0] != weights.shape[1]:
            raise ValueError("cross attention leads to other tokens: it cannot be rolled out")
        step: Array = weights / np.float32(2)
        np.fill_diagonal(step, step.diagonal() + np.float32(0.5))
        flow = step if flow is None else np.matmul(step, flow, dtype=np.float32)
    if flow is None:
        raise ValueError("there is no layer to roll out")
    return flow


def _join(layers: Iterator[Array], kind: Overall) -> Array:
    return rollout(layers) if kind == "rollout" else np.mean(list(layers), axis=0, dtype=np.float32)
