"""Traces made by hand: small, and known to the last number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.model.trace import Array, Layer, Token, Trace


def token(text: str, position: int, word: int, *, special: bool = False, segment: int = 0) -> Token:
    return Token(text, text, position, special, segment, position, -1 if special else word)


def plain_tokens(*texts: str) -> tuple[Token, ...]:
    """One word per token."""
    return tuple(token(text, i, i) for i, text in enumerate(texts))


def trace_with_attention(weights: Array, tokens: tuple[Token, ...] | None = None) -> Trace:
    """A trace whose attention is `weights` (layer, head, token, token), rows summing to one.

    Queries are the logarithms of the weights, keys the unit vectors: the dot product of query i and
    key j is then the logarithm of the weight, and softmax gives the weight back.
    """
    layers, _, size, _ = weights.shape
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(weights), -80).astype(np.float32)
    keys = np.broadcast_to(np.eye(size, dtype=np.float32), weights.shape).copy()
    rules = tuple(Layer(1.0, None) for _ in range(layers))
    names = tokens or plain_tokens(*(f"t{i}" for i in range(size)))
    return Trace("by hand", names, logits, keys, keys.copy(), rules, causal=False)


def random_weights(seed: int, layers: int, heads: int, size: int) -> Array:
    """Rows drawn from a Dirichlet distribution, float32 (layer, head, size, size)."""
    draw = np.random.default_rng(seed).dirichlet(np.full(size, 0.5), (layers, heads, size))
    return draw.astype(np.float32)


def causal(trace: Trace) -> Trace:
    """The same queries and keys in a model that reads left to right."""
    size = trace.shape[2]
    mask = np.where(np.tri(size, dtype=bool), 0, -np.inf).astype(np.float32)
    return replace(trace, layers=(Layer(1.0, mask),) * trace.shape[0], causal=True)


def random_trace(
    seed: int, layers: int = 3, heads: int = 4, size: int = 12, dim: int = 16
) -> Trace:
    """Queries, keys and values from one distribution for every head."""
    q, k, v = (
        np.random.default_rng(seed).normal(size=(3, layers, heads, size, dim)).astype(np.float32)
    )
    names = plain_tokens(*(f"t{i}" for i in range(size)))
    return Trace("by hand", names, q, k, v, (Layer(dim**-0.5, None),) * layers, causal=False)


def with_values(trace: Trace, lengths: list[float]) -> Trace:
    """The same attention, with values of these lengths along one direction, in every head."""
    values = np.zeros((*trace.shape[:3], 4), dtype=np.float32)
    values[..., 0] = lengths
    return replace(trace, kv_values=values)
