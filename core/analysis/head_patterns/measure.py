"""How much of each head's attention falls on the pairs of each pattern, summed over a text.

A score is the share of attention on the pairs, averaged over the tokens for which the model permits
such a pair. Sums and token counts are stored separately, so that texts can be added and resampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, one_thread
from core.analysis.head_patterns.registry import PATTERNS, Pattern
from core.analysis.pairs import permitted_pairs, uniform_attention
from core.model.trace import Array, Token, Trace

Counts = NDArray[np.int_]

# Patterns measured on the text itself, without repeated sequences.
ON_TEXT = tuple(each for each in PATTERNS if each.measured != "repeated")
SCORES_ON_TEXT = tuple(each.score for each in ON_TEXT)


@dataclass(frozen=True, eq=False)
class TextScores:
    """The scores of one text, along the first axis."""

    names: tuple[str, ...]  # of the scores
    # (score, layer, head), summed over the tokens that have such a pair: the share of their
    # attention on it, or how many tokens away they attend, or their relative entropy
    sums: Floats
    uniform: Floats  # the same for uniform attention to all permitted keys
    counts: Counts  # how many tokens were summed, (score, layer, head)
    tokens: int  # how many tokens the text has
    layer_labels: tuple[int, ...] = (1,)  # the layers' numbers, as people read them


@dataclass(frozen=True, eq=False)
class Scores:
    """What heads score, by name of the score; arrays of one shape, such as (layer, head)."""

    means: dict[str, Floats]  # over the query tokens that have such a pair; nan where none has
    uniform: dict[str, Floats]  # the uniform baseline
    query_tokens: dict[str, Floats]  # how many query tokens that is


def measure_text(trace: Trace, patterns: Sequence[Pattern] = ON_TEXT) -> TextScores:
    """Every head on one text, by some of the patterns `ON_TEXT`.

    In cross attention, no token has a pair unless the pattern is `Pattern.across`. Holds one
    layer's attention in memory at a time: 4 bytes x heads x tokens squared.
    """
    ruler = _Ruler(patterns, trace.tokens, trace.source)
    baselines: dict[int, tuple[Floats, Counts]] = {}  # layers that share a mask share these
    layers = []
    with one_thread():
        for layer in range(trace.shape[0]):
            allowed = permitted_pairs(trace, layer)
            mask = id(trace.layers[layer].mask)
            if mask not in baselines:
                uniform = ruler.sums(uniform_attention(allowed), allowed)
                baselines[mask] = uniform, ruler.counts(allowed)
            layers.append((ruler.sums(trace.attention(layer), allowed), *baselines[mask]))
    shape = len(patterns), trace.shape[1]
    sums, uniform, counts = (
        np.stack([np.broadcast_to(part, shape) for part in parts], axis=1)
        for parts in zip(*layers, strict=True)
    )
    totals = counts.astype(np.int_)
    return TextScores(ruler.names, sums, uniform, totals, len(trace.tokens), trace.layer_labels)


def mean_scores(measured: Sequence[TextScores]) -> Scores:
    """Means over the tokens of all texts, (layer, head) for each score."""
    sums, uniform, counts = (
        np.sum([getattr(each, part) for each in measured], axis=0)
        for part in ("sums", "uniform", "counts")
    )
    return named_scores(measured[0].names, sums, uniform, counts.astype(np.float64))


def named_scores(names: Sequence[str], sums: Floats, uniform: Floats, counts: Floats) -> Scores:
    """Means from sums and counts, all (score, ...)."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: no token has such a pair
        parts = (sums / counts, uniform / counts, counts)
    return Scores(*(dict(zip(names, part, strict=True)) for part in parts))


class _Ruler:
    """The pairs of some patterns on one text, ready to be multiplied with attention."""

    def __init__(
        self,
        patterns: Sequence[Pattern],
        tokens: tuple[Token, ...],
        source: tuple[Token, ...] | None,
    ) -> None:
        self.names = tuple(each.score for each in patterns)
        # How each is measured, and its pairs, boolean (token, key token)
        self.pairs = [(each.measured, each.between(tokens, source)) for each in patterns]
        positions = np.arange(len(source or tokens))
        away = abs(np.arange(len(tokens))[:, None] - positions)  # in tokens
        flat = [
            (pairs * away if kind == "distance" else pairs).ravel()
            for kind, pairs in self.pairs
            if kind != "entropy"
        ]
        self.flat = np.array(flat, np.float32).reshape(len(flat), away.size)

    def sums(self, weights: Array, allowed: Bools) -> Floats:
        """Sums over the attention (head, token, key token): float64 (score, head)."""
        shares = iter((weights.reshape(len(weights), -1) @ self.flat.T).astype(np.float64).T)
        return np.stack(
            [
                relative_entropy(weights, allowed)[0].sum(axis=-1)
                if kind == "entropy"
                else next(shares)
                for kind, _ in self.pairs
            ]
        )

    def counts(self, allowed: Bools) -> Counts:
        """How many tokens have a permitted pair, or a choice of keys, int (score, 1 or head)."""
        return np.stack(
            [
                ((pairs & allowed).sum(axis=-1) > (kind == "entropy")).sum(axis=-1)
                for kind, pairs in self.pairs
            ]
        )


def mean_relative_entropy(weights: Array, allowed: Bools) -> Floats:
    """H / ln(permitted keys), mean over the rows that may see more than one key, (head,).

    1 for uniform attention, 0 where each row attends to one key; nan if no row has a choice.
    `weights` is (head, token, key token), `allowed` the same or (1, token, key token).
    """
    relative, choice = relative_entropy(weights, allowed)
    rows = choice.sum(axis=-1)
    sums = relative.sum(axis=-1)
    return np.divide(sums, rows, out=np.full(sums.shape, np.nan), where=rows > 0)


def relative_entropy(weights: Array, allowed: Bools) -> tuple[Floats, Bools]:
    """H / ln(permitted keys) of each row, 0 for a row without a choice; whether it has a choice.

    (head, token, key token) in, float64 and boolean (head, token) out.
    """
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -np.einsum("hij,hij->hi", weights, logarithms, dtype=np.float64)
    keys = np.broadcast_to(allowed.sum(axis=-1), entropy.shape)
    choice = keys > 1
    return np.divide(entropy, np.log(keys), out=np.zeros_like(entropy), where=choice), choice
