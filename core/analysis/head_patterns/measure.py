"""How much of each head's attention falls on the pairs of each pattern, added up over a text.

Sums and how many tokens they are over are kept apart, so that texts can be added, and resampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.pairs import table_pairs
from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from core.model.trace import Array, Token, Trace

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int_]
    Pairs = NDArray[np.bool_]

SHARES = (
    "previous",
    "next",
    "self",
    "first",
    "cls",
    "sep",
    "punctuation",
    "delimiter",
    "same_token",
    "other_sentence",
)
MEASURED = (*SHARES, "distance", "entropy")


@dataclass(frozen=True, eq=False)
class Measured:
    """One text, each score of `MEASURED` along the first axis.

    Attributes
    ----------
    sums : float64 (score, layer, head), over the tokens that have such a pair: the share of their
        attention on it; how many tokens away they attend; and the entropy of their row over that of
        an even one.
    even : the same for a head with uniform attention to all that it may see.
    counts : int (score, layer, head), how many tokens that is.
    tokens : how many tokens the text has.
    """

    sums: Floats
    even: Floats
    counts: Counts
    tokens: int


def measure_text(trace: Trace) -> Measured:
    """Every head on one text; one layer's attention is in memory at a time."""
    from threadpoolctl import threadpool_limits

    ruler = Ruler.of(trace.tokens)
    heads = trace.shape[1]
    even: dict[int, tuple[Floats, Counts]] = {}  # layers that share a mask share these
    found = []
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"):
        for layer in range(trace.shape[0]):
            allowed = permitted_pairs(trace, layer)
            mask = id(trace.layers[layer].mask)
            if mask not in even:
                even[mask] = (ruler.sums(even_attention(allowed), allowed), ruler.counts(allowed))
            found.append((ruler.sums(trace.attention(layer), allowed), *even[mask]))
    sums, evens, counts = (
        np.stack([np.broadcast_to(part, (len(MEASURED), heads)) for part in parts], axis=1)
        for parts in zip(*found, strict=True)
    )
    return Measured(sums, evens, counts.astype(np.int_), len(trace.tokens))


def measure_matrix(weights: Array, even: Array, tokens: tuple[Token, ...]) -> Measured:
    """One attention matrix (token, token) that is no head's own, as if it were a model's only one.

    `even` is what it would be with uniform attention in every head; where that is 0 nothing is
    permitted.
    """
    ruler = Ruler.of(tokens)
    allowed = (even > 0)[None]
    sums, baseline, counts = (
        ruler.sums(weights[None], allowed),
        ruler.sums(even[None], allowed),
        ruler.counts(allowed),
    )
    return Measured(sums[:, None], baseline[:, None], counts[:, None], len(tokens))


def even_attention(allowed: Pairs) -> Array:
    """Each row uniform over what it may see; float32, of the shape of `allowed`."""
    weights = allowed.astype(np.float32)
    weights /= np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    return weights


@dataclass(frozen=True, eq=False)
class Ruler:
    """The pairs of one text's patterns, ready to be multiplied with attention.

    Attributes
    ----------
    pairs : boolean (token, token) by name.
    flat : float32 (pattern and distance, token * token).
    """

    pairs: Mapping[str, Pairs]
    flat: Array

    @classmethod
    def of(cls, tokens: tuple[Token, ...]) -> Ruler:
        """For a text of these tokens."""
        pairs = table_pairs(tokens)
        places = np.arange(len(tokens))
        away = np.abs(places[:, None] - places)
        stacked = np.stack([*(pairs[name] for name in SHARES), away]).astype(np.float32)
        return cls(pairs, stacked.reshape(len(stacked), -1))

    def sums(self, weights: Array, allowed: Pairs) -> Floats:
        """Of attention (head, token, token): float64 (score, head)."""
        shares = (weights.reshape(len(weights), -1) @ self.flat.T).astype(np.float64)
        relative, _ = relative_entropy(weights, allowed)
        return np.vstack([shares.T, relative.sum(axis=-1)])

    def counts(self, allowed: Pairs) -> Counts:
        """How many tokens have a permitted pair, int (score, 1 or head)."""
        shares = [(self.pairs[name] & allowed).any(axis=-1).sum(axis=-1) for name in SHARES]
        rows = np.full(len(allowed), allowed.shape[-1])
        return np.stack([*shares, rows, (allowed.sum(axis=-1) > 1).sum(axis=-1)])


def mean_relative_entropy(weights: Array, allowed: Pairs) -> Floats:
    """H / ln(permitted keys), mean over the rows that may see more than one key, (head,).

    1 where attention is even, 0 where each row looks at one key. Not a number when no row has a
    choice. `weights` is (head, token, token), `allowed` that or (1, token, token).
    """
    relative, choice = relative_entropy(weights, allowed)
    rows = choice.sum(axis=-1)
    sums = relative.sum(axis=-1)
    return np.divide(sums, rows, out=np.full(sums.shape, np.nan), where=rows > 0)


def relative_entropy(weights: Array, allowed: Pairs) -> tuple[Floats, Pairs]:
    """H / ln(permitted keys) of each row, and whether it has a choice; 0 where it has none.

    (head, token, token) in, float64 and boolean (head, token) out.
    """
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -np.einsum("hij,hij->hi", weights, logarithms, dtype=np.float64)
    keys = np.broadcast_to(allowed.sum(axis=-1), entropy.shape)
    choice = keys > 1
    return np.divide(entropy, np.log(keys), out=np.zeros_like(entropy), where=choice), choice
