"""Traces made by hand: small, and known to the last number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.analysis.arrays import Floats
from core.model.trace import Array, Layer, Token, Trace


@dataclass(frozen=True)
class Stack:
    """The layers of a model: the numbers of those that attend, and how many there are."""

    layer_labels: tuple[int, ...]
    depth: int | None = None

    @staticmethod
    def of(layers: int) -> Stack:
        """All of them attend."""
        return Stack(tuple(range(1, layers + 1)), layers)


HYBRID = Stack((3, 6), 8)  # 1, 2, 4, 5, 7 and 8 do not attend


def numbers_of(trace: Trace, stack: Stack) -> Trace:
    """The trace as of a hybrid with these layers."""
    layers = zip(trace.layers, stack.layer_labels, strict=True)
    numbered = tuple(replace(layer, number=number - 1) for layer, number in layers)
    return replace(trace, layers=numbered, depth=stack.depth)


def token(text: str, position: int, word: int, *, special: bool = False, segment: int = 0) -> Token:
    return Token(text, text, position, special, segment, position, -1 if special else word)


def numbered(size: int) -> tuple[Token, ...]:
    return plain_tokens(*(f"t{i}" for i in range(size)))


def plain_tokens(*texts: str) -> tuple[Token, ...]:
    """One word per token."""
    return tuple(token(text, i, i) for i, text in enumerate(texts))


def spelled(text: str) -> tuple[Token, ...]:
    """Tokens between blanks: ## goes on with a word, [SEP] ends a sentence."""
    tokens, word, segment = [], -1, 0
    for position, name in enumerate(text.split()):
        special = name in {"[CLS]", "[SEP]"}
        word += not special and not name.startswith("##")
        tokens.append(token(name, position, word, special=special, segment=segment))
        segment += name == "[SEP]"
    return tuple(tokens)


def additive(seen: np.ndarray) -> Array:
    """The mask that permits these pairs."""
    return np.where(seen, 0, -np.inf).astype(np.float32)


def causal_mask(size: int) -> Array:
    return additive(np.tri(size, dtype=bool))


def made_trace(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray | None = None,
    *,
    mask: Array | None = None,
    scaling: float = 1.0,
    softcap: float | None = None,
) -> Trace:
    """A trace of these vectors (layer, head, token, dim); one rule for all layers."""
    layers, _, size, _ = queries.shape
    sides = (queries, keys, keys if values is None else values)
    q, k, v = (each.astype(np.float32) for each in sides)
    rules = (Layer(scaling, mask, softcap),) * layers
    return Trace("by hand", numbered(size), q, k, v, rules, causal=mask is not None)


def trace_with_attention(weights: Array, tokens: tuple[Token, ...] | None = None) -> Trace:
    """A trace whose attention is `weights` (layer, head, token, token), rows summing to one.

    Queries are the logarithms of the weights, keys the unit vectors: the dot product of query i and
    key j is then the logarithm of the weight, and softmax gives the weight back.
    """
    size = weights.shape[2]
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(weights), -80).astype(np.float32)
    keys = np.broadcast_to(np.eye(size, dtype=np.float32), weights.shape).copy()
    return replace(made_trace(logits, keys), tokens=tokens or numbered(size))


def random_weights(seed: int, layers: int, heads: int, size: int) -> Array:
    """Rows drawn from a Dirichlet distribution, float32 (layer, head, size, size)."""
    draw = np.random.default_rng(seed).dirichlet(np.full(size, 0.5), (layers, heads, size))
    return draw.astype(np.float32)


def causal(trace: Trace) -> Trace:
    """The same queries and keys in a model that reads left to right."""
    rule = Layer(1.0, causal_mask(trace.shape[2]))
    return replace(trace, layers=(rule,) * trace.shape[0], causal=True)


def random_trace(
    seed: int, layers: int = 3, heads: int = 4, size: int = 12, dim: int = 16
) -> Trace:
    """Queries, keys and values from one distribution for every head."""
    vectors = np.random.default_rng(seed).normal(size=(3, layers, heads, size, dim))
    return made_trace(*vectors, scaling=dim**-0.5)


def clouds(seed: int, *shape: int) -> tuple[Floats, Floats]:
    """Queries and keys (..., token, dim) of different size around centres of their own."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2, *shape[:-2], 1, shape[-1]))
    queries, keys = rng.normal(size=(2, *shape)) + centres
    return 1.5 * queries, 0.6 * keys


def with_values(trace: Trace, lengths: list[float]) -> Trace:
    """The same attention, with values of these lengths along one direction, in every head."""
    values = np.zeros((*trace.shape[:3], 4), dtype=np.float32)
    values[..., 0] = lengths
    return replace(trace, kv_values=values)


def crossing(
    seed: int,
    heads: int = 2,
    *,
    queries: tuple[str, ...] = ("[CLS]", "she", "runs"),
    keys: tuple[str, ...] = ("he", "walks", "a", "dog", "[SEP]"),
    layers: int = 2,
    dim: int = 4,
) -> Trace:
    """Random cross attention: the tokens of `queries` attend to those of `keys`."""
    draw = np.random.default_rng(seed)
    tokens, source = spelled(" ".join(queries)), spelled(" ".join(keys))
    shapes = [(layers, heads, len(each), dim) for each in (tokens, source, source)]
    q, k, v = (draw.normal(size=shape).astype(np.float32) for shape in shapes)
    rules = (Layer(dim**-0.5, None),) * layers
    return Trace(
        "by hand", tokens, q, k, v, rules, causal=False, attention_type="cross", source=source
    )
