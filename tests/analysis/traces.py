"""Traces made by hand: small, and known to the last number."""

from __future__ import annotations

import numpy as np

from core.model.trace import Array, Layer, Token, Trace


def token(text: str, position: int, word: int, *, special: bool = False, segment: int = 0) -> Token:
    return Token(text, text, position, special, segment, position, -1 if special else word)


def plain_tokens(*texts: str) -> tuple[Token, ...]:
    """One word a token."""
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
