"""What attention moves: weights, and weights times the length of what they carry.

An attention weight says how a token's reading was shared out, not how much came with it: a token
whose value is nearly zero can take all the attention and give nothing (Kobayashi et al. 2020,
section 4). Here a token's value counts by |f(v_j)|, f(v) = v W_O, where W_O is known, else by
|v_j|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import renormalise_rows
from core.analysis.head_patterns.measure import mean_relative_entropy
from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Trace

    Floats = NDArray[np.float64]

NEXT_TO_NOTHING = 0.1  # of the head's median; a shorter value moves next to nothing
_STEPS = 200  # of the power iteration, at most
_SETTLED = 1e-5  # relative change of the largest singular value at which it ends


@dataclass(frozen=True, eq=False)
class Columns:
    """What each token takes of a head's attention, and what it gives; (layer, head, token) each.

    Attributes
    ----------
    attention : mean over the tokens of the attention to this one; they add up to 1.
    uniform : the same for a head that attends evenly to all it may see.
    contribution : this token's share of what the head moves, the sum over i of a_ij |f(v_j)| over
        that of all tokens; they add up to 1, or are 0 where nothing is moved.
    norms : |f(v_j)| or |v_j|.
    entropy : H(row) / ln(permitted keys), mean over rows that have a choice, (layer, head).
    offset : mean attention to the previous token, itself or the next one, whichever is largest,
        over the tokens that may see one, (layer, head).
    rank : stable rank of the attention matrix, (layer, head).
    exact : whether the norms are of f(v), through W_O; else of v.
    """

    attention: Floats
    uniform: Floats
    contribution: Floats
    norms: Floats
    entropy: Floats
    offset: Floats
    rank: Floats
    exact: bool


def columns(trace: Trace, transformed: Array | None = None) -> Columns:
    """Attention to each token and what it contributes, for all heads.

    Parameters
    ----------
    transformed : |f(v)|, (layer, head, token), from
        ``core.model.weights.output_projection.transformed_norms``; None takes |v|.

    One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    from threadpoolctl import threadpool_limits

    norms = value_norms(trace, transformed)
    rows = []
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"):
        for layer in range(trace.shape[0]):
            weights = trace.attention(layer)
            allowed = permitted_pairs(trace, layer)
            even = (allowed / allowed.sum(axis=-1, keepdims=True)).mean(axis=1)
            rows.append(
                (
                    weights.mean(axis=1, dtype=np.float64),
                    np.broadcast_to(even, norms[layer].shape),
                    moved(weights, norms[layer]).mean(axis=1, dtype=np.float64),
                    mean_relative_entropy(weights, allowed),
                    offset_attention(weights, allowed),
                    stable_rank(weights),
                )
            )
    attention, uniform, contribution, entropy, offset, rank = map(np.stack, zip(*rows, strict=True))
    return Columns(
        attention=attention,
        uniform=uniform,
        contribution=contribution,
        norms=norms,
        entropy=entropy,
        offset=offset,
        rank=rank,
        exact=transformed is not None,
    )


def value_norms(trace: Trace, transformed: Array | None = None) -> Floats:
    """|f(v)| where it is given, else |v|, float64 (layer, head, token)."""
    if transformed is not None:
        return np.asarray(transformed, dtype=np.float64)
    lengths = np.linalg.norm(trace.kv_values, axis=-1).astype(np.float64)
    return np.repeat(lengths, trace.group, axis=1)


def moved(weights: Array, norms: Floats) -> Array:
    """|a_ij f(v_j)|, how much each key gives each query, scaled to add up to what attention does.

    Each matrix has as its sum the number of its tokens, as attention has, so that the two compare
    cell by cell and column by column; rows say how much each token receives, and 1 is the mean.
    `weights` is (..., token, token), `norms` (..., token); where nothing is moved it is 0.
    """
    carried = weights * norms[..., None, :].astype(np.float32)
    mean = carried.sum(axis=(-1, -2), keepdims=True, dtype=np.float64) / weights.shape[-1]
    return np.divide(carried, mean, out=carried, where=mean > 0, casting="same_kind")


def lengths_and_sum(weights: Array, vectors: Array) -> tuple[Floats, Floats]:
    """What each token receives of a head: its parts' lengths added up, and the length of their sum.

    The head gives token i the sum over j of a_ij f(v_j). The lengths |a_ij f(v_j)| add up to more
    than the length of that sum unless all parts point the same way: parts cancel.

    Parameters
    ----------
    weights : attention, (token, token).
    vectors : f(v_j), or v_j where W_O is not known, (token, width).

    Returns
    -------
    Two float64 (token,).
    """
    parts = vectors.astype(np.float64)
    added = weights.astype(np.float64) @ np.linalg.norm(parts, axis=-1)
    return added, np.linalg.norm(weights.astype(np.float64) @ parts, axis=-1)


def null_score(attention: Floats, norms: Floats) -> Floats:
    """Attention to short values: sum over tokens of attention times (1 - norm / median norm).

    As a row's attention adds up to 1, it is 1 less the mean length of the values that attention
    rests on, each counted up to the head's median and in units of it. Tokens at or above the median
    count as 0, so a head whose values are all equally long has a score of 0, and one that puts 0.8
    on a token with no value has 0.8. After Vig and Belinkov 2019 ("null attention") and Kobayashi
    et al. 2020, section 4.2. A head whose values are all zero moves nothing: 1.

    `attention` and `norms` are (..., token); the result is (...).
    """
    return np.asarray((attention * np.clip(1 - _of_median(norms), 0, 1)).sum(axis=-1))


def empty_attention(attention: Floats, norms: Floats) -> Floats:
    """Attention that moves next to nothing: to values under `NEXT_TO_NOTHING` of the median norm.

    `attention` and `norms` are (..., token); the result is (...).
    """
    return np.asarray((attention * (_of_median(norms) < NEXT_TO_NOTHING)).sum(axis=-1))


def _of_median(norms: Floats) -> Floats:
    """Norms over the head's median; where that is 0, 1 for values that have a length, else 0."""
    relative = over_median(norms)
    return np.where(np.isnan(relative), norms > 0, relative)


def offset_attention(weights: Array, allowed: NDArray[np.bool_]) -> Floats:
    """Mean attention at one fixed offset, the largest of previous, self and next, (head,).

    The mean is over the tokens that may see the one at that offset; 0 where none may. `weights` is
    (head, token, token), `allowed` that or (1, token, token).
    """
    means = []
    for offset in (-1, 0, 1):
        pairs = np.diagonal(weights, offset, axis1=-2, axis2=-1).astype(np.float64)
        counts = np.diagonal(allowed, offset, axis1=-2, axis2=-1).sum(axis=-1)
        means.append(pairs.sum(axis=-1) / np.maximum(counts, 1))
    return np.asarray(np.stack(means).max(axis=0))


def relative_norm(norms: Floats, position: NDArray[np.intp] | int) -> Floats:
    """The value norm at a position over the head's median, (...); nan where the median is 0."""
    index = np.broadcast_to(np.asarray(position), norms.shape[:-1])[..., None]
    return np.asarray(np.take_along_axis(over_median(norms), index, axis=-1)[..., 0])


def over_median(norms: Floats) -> Floats:
    """Norms over their head's median, (..., token); not a number where the median is 0."""
    typical = np.median(norms, axis=-1, keepdims=True)
    return np.divide(norms, typical, out=np.full(norms.shape, np.nan), where=typical > 0)


def stable_rank(weights: Array) -> Floats:
    """|A|_F^2 / |A|_2^2 of each matrix, (head,): how many directions it really has.

    1 where all tokens attend alike, the number of tokens where each attends to itself alone. Also
    called the effective rank of A^T A, trace over largest eigenvalue (Vershynin 2018, remark
    5.6.3). `weights` (head, token, token) are not negative, so that the power iteration, started at
    a positive vector, cannot miss the largest singular value.
    """
    vectors = np.full((*weights.shape[:-1], 1), weights.shape[-1] ** -0.5, dtype=np.float32)
    largest = np.zeros(len(weights))
    for _ in range(_STEPS):
        forward = weights @ vectors
        before, largest = largest, np.square(forward, dtype=np.float64).sum(axis=(-1, -2))
        if np.all(np.abs(largest - before) <= _SETTLED * largest):
            break
        vectors = weights.swapaxes(-1, -2) @ forward
        vectors /= np.linalg.norm(vectors, axis=-2, keepdims=True)
    return np.asarray(np.einsum("hij,hij->h", weights, weights, dtype=np.float64) / largest)


def without_first(weights: Array) -> Array:
    """The matrix without its first token, each row divided by what is left of it.

    A sink hides what a head would do without it; this shows what is latent. A row with nothing
    left stays 0. `weights` is (token, token); the result one smaller.
    """
    return renormalise_rows(weights[1:, 1:])
