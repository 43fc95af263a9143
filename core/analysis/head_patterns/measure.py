"""How much of each head's attention falls on the pairs of each pattern, added up over a text.

The score is the share of attention on the pairs: per token, then the mean over the tokens for which
the model permits such a pair at all. So it is between 0 and 1, and the same sum over a head with
uniform attention is its baseline. Sums and how many tokens they are over are kept apart, so that
texts can be added, and resampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.head_patterns.registry import Pattern
    from core.model.trace import Array, Token, Trace

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int_]
    Pairs = NDArray[np.bool_]

# Of a text itself: not on texts of their own, and not by the model's embeddings.
ON_TEXT = tuple(each for each in PATTERNS if each.measured in {"pairs", "distance", "entropy"})
TABLE = tuple(each for each in ON_TEXT if each.in_table)
HEAD_VIEW = tuple(each for each in ON_TEXT if each.in_head_view)
MEASURED = tuple(each.score for each in TABLE)


@dataclass(frozen=True, eq=False)
class Measured:
    """One text, each score along the first axis.

    Attributes
    ----------
    names : of the scores.
    sums : float64 (score, layer, head), over the tokens that have such a pair: the share of their
        attention on it; how many tokens away they attend; and the entropy of their row over that of
        an even one.
    uniform : the same for a head with uniform attention to all that it may see.
    counts : int (score, layer, head), how many tokens that is.
    tokens : how many tokens the text has.
    """

    names: tuple[str, ...]
    sums: Floats
    uniform: Floats
    counts: Counts
    tokens: int


@dataclass(frozen=True, eq=False)
class Scores:
    """What heads score, each part by score and all of one shape, such as (layer, head).

    Attributes
    ----------
    means : over the query tokens that have such a pair; nan where none has.
    uniform : the same for a head with uniform attention.
    query_tokens : how many query tokens that is.
    """

    means: dict[str, Floats]
    uniform: dict[str, Floats]
    query_tokens: dict[str, Floats]


def measure_text(trace: Trace, patterns: Sequence[Pattern] = TABLE) -> Measured:
    """Every head on one text, by some of the patterns `ON_TEXT`.

    One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    from threadpoolctl import threadpool_limits

    ruler = Ruler(trace.tokens, patterns)
    heads = trace.shape[1]
    even: dict[int, tuple[Floats, Counts]] = {}  # layers that share a mask share these
    found = []
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"):
        for layer in range(trace.shape[0]):
            allowed = permitted_pairs(trace, layer)
            mask = id(trace.layers[layer].mask)
            if mask not in even:
                even[mask] = (
                    ruler.sums(uniform_attention(allowed), allowed),
                    ruler.counts(allowed),
                )
            found.append((ruler.sums(trace.attention(layer), allowed), *even[mask]))
    sums, evens, counts = (
        np.stack([np.broadcast_to(part, (len(patterns), heads)) for part in parts], axis=1)
        for parts in zip(*found, strict=True)
    )
    return Measured(ruler.names, sums, evens, counts.astype(np.int_), len(trace.tokens))


def measure_matrix(weights: Array, even: Array, tokens: tuple[Token, ...]) -> Measured:
    """One attention matrix (token, token) that is no head's own, as if it were a model's only one.

    `even` is what it would be with uniform attention in every head; where that is 0 nothing is
    permitted.
    """
    ruler = Ruler(tokens, TABLE)
    allowed = (even > 0)[None]
    sums, baseline, counts = (
        ruler.sums(weights[None], allowed),
        ruler.sums(even[None], allowed),
        ruler.counts(allowed),
    )
    return Measured(ruler.names, sums[:, None], baseline[:, None], counts[:, None], len(tokens))


def mean_scores(measured: Sequence[Measured]) -> Scores:
    """Means over the tokens of all texts, (layer, head) by score."""
    counts = np.sum([each.counts for each in measured], axis=0)
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: no token has such a pair
        means = np.sum([each.sums for each in measured], axis=0) / counts
        uniform = np.sum([each.uniform for each in measured], axis=0) / counts
    return Scores(
        *(
            dict(zip(measured[0].names, part, strict=True))
            for part in (means, uniform, counts.astype(np.float64))
        )
    )


def head_scores(trace: Trace, patterns: Sequence[Pattern] = ON_TEXT) -> dict[str, Floats]:
    """How much of each head's attention follows each pattern on this text.

    float64 (layer, head) by the name of the score; `Pattern.measures` says of what it is the mean
    over tokens. nan where no token has such a pair that the model permits.
    """
    return mean_scores([measure_text(trace, patterns)]).means


def uniform_scores(trace: Trace, patterns: Sequence[Pattern] = ON_TEXT) -> dict[str, Floats]:
    """What :func:`head_scores` would be if each token attended evenly to all it may see."""
    return mean_scores([measure_text(trace, patterns)]).uniform


def uniform_attention(allowed: Pairs) -> Array:
    """Each row uniform over what it may see; float32, of the shape of `allowed`."""
    weights = allowed.astype(np.float32)
    weights /= np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    return weights


class Ruler:
    """The pairs of some patterns on one text, ready to be multiplied with attention.

    Attributes
    ----------
    names : of their scores.
    pairs : boolean (token, token) of each pattern, None for those by distance or entropy.
    flat : float32 (all but entropy, token * token): the pairs, and distances in tokens.
    """

    def __init__(self, tokens: tuple[Token, ...], patterns: Sequence[Pattern]) -> None:
        places = np.arange(len(tokens))
        self._measured = [each.measured for each in patterns]
        self.names = tuple(each.score for each in patterns)
        self.pairs = [
            each.pairs(tokens) if each.measured == "pairs" and each.pairs else None
            for each in patterns
        ]
        weighed = [
            np.abs(places[:, None] - places) if of == "distance" else pairs
            for of, pairs in zip(self._measured, self.pairs, strict=True)
            if of != "entropy"
        ]
        self.flat = np.array(weighed, np.float32).reshape(len(weighed), len(tokens) ** 2)

    def sums(self, weights: Array, allowed: Pairs) -> Floats:
        """Of attention (head, token, token): float64 (score, head)."""
        shares = iter((weights.reshape(len(weights), -1) @ self.flat.T).astype(np.float64).T)
        sums = [
            next(shares) if of != "entropy" else relative_entropy(weights, allowed)[0].sum(axis=-1)
            for of in self._measured
        ]
        return np.stack(sums)

    def counts(self, allowed: Pairs) -> Counts:
        """How many tokens have a permitted pair, or a choice, int (score, 1 or head)."""
        tokens = {
            "distance": np.full(len(allowed), allowed.shape[-1]),
            "entropy": (allowed.sum(axis=-1) > 1).sum(axis=-1),
        }
        counts = [
            tokens[of] if pairs is None else (pairs & allowed).any(axis=-1).sum(axis=-1)
            for of, pairs in zip(self._measured, self.pairs, strict=True)
        ]
        return np.stack(counts)


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
