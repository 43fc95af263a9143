"""Sums over tokens, which grow with the model but not with the corpus, and merge in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, in_threads
from core.atlas.blocks import MAX_PAIRS, CorpusPairs, blocks_of
from core.atlas.data import Masks
from core.atlas.priority import take_within_budget
from core.model.trace import Array, Layer

SAMPLE_TOKENS = 5_000  # in the sample that a page draws of a large atlas


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the vectors of every head: count, mean (layer, head, dim) and centred scatter.

    The scatter is the sum of x x^T over vectors less their mean, float64 (layer, head, dim, dim).
    """

    count: int
    mean: Floats
    scatter: Floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """The sentences that come first in the fixed random order: numbers and lengths (sentence,)."""

    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sums:
    """Everything summed over the tokens of a part, or of a whole corpus."""

    model: str
    causal: bool
    rules: tuple[Layer, ...]  # how each layer scales and caps its scores, without a mask
    layer_numbers: tuple[int, ...]  # as people read them
    depth: int  # number of layers of the model
    tokens: int
    sentences: int
    dropped: int  # tokens that were cut off
    cut_characters: int
    queries: Moments
    keys: Moments  # of key-value heads
    candidates: Candidates

    @property
    def shape(self) -> tuple[int, int, int]:
        """(layers, heads, dim)."""
        layers, heads, dim = self.queries.mean.shape
        return layers, heads, dim


def moments_of(vectors: Array) -> Moments:
    """The moments of vectors (layer, head, token, dim), summed in float64."""
    layers, heads, count, dim = vectors.shape
    mean, scatter = np.empty((layers, heads, dim)), np.empty((layers, heads, dim, dim))

    def add(head: tuple[int, ...]) -> None:
        rows = vectors[head].astype(np.float64)
        mean[head] = rows.mean(axis=0)
        rows -= mean[head]
        scatter[head] = rows.T @ rows

    in_threads(add, np.ndindex(layers, heads))
    return Moments(count, mean, scatter)


def add_moments(one: Moments, other: Moments) -> Moments:
    """The moments of both together, without subtracting large sums (Chan et al. 1979)."""
    count = one.count + other.count
    step = other.mean - one.mean
    between = step[..., :, None] * step[..., None, :] * (one.count * other.count / count)
    return Moments(
        count, one.mean + step * (other.count / count), one.scatter + other.scatter + between
    )


def first_candidates(numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> Candidates:
    """The sentences that may be in a sample of pairs or of tokens."""
    chosen = max(
        take_within_budget(numbers, lengths**2, MAX_PAIRS),
        take_within_budget(numbers, lengths, SAMPLE_TOKENS),
        key=len,
    )
    return Candidates(numbers[chosen], lengths[chosen])


def merge(parts: Iterable[Sums]) -> Sums:
    """The sums of all parts together; associative, and independent of order within rounding.

    Raises `ValueError` if there are none, or if they are of different models.
    """
    remaining = iter(parts)
    first = next(remaining, None)
    if first is None:
        raise ValueError("an atlas needs at least one sentence")
    return reduce(_merge_two, remaining, first)


def _merge_two(one: Sums, other: Sums) -> Sums:
    if (one.model, one.shape) != (other.model, other.shape):
        raise ValueError(f"sums of {one.model} and of {other.model} cannot be merged")
    return replace(
        one,
        tokens=one.tokens + other.tokens,
        sentences=one.sentences + other.sentences,
        dropped=one.dropped + other.dropped,
        cut_characters=one.cut_characters + other.cut_characters,
        queries=add_moments(one.queries, other.queries),
        keys=add_moments(one.keys, other.keys),
        candidates=first_candidates(
            np.concatenate([one.candidates.numbers, other.candidates.numbers]),
            np.concatenate([one.candidates.lengths, other.candidates.lengths]),
        ),
    )


@dataclass(frozen=True, eq=False)
class VectorSample:
    """Some sentences of a corpus, and the vectors of their tokens.

    Attributes
    ----------
    numbers, lengths : of the sentences, ascending by number, (sentence,).
    masks : the unusual ones, by sentence number.
    of_head : queries and keys of a (layer, head), float64 (token of the sample, dim) each.
    """

    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]
    masks: Mapping[int, Masks]
    of_head: Callable[[int, int], tuple[Floats, Floats]]

    def pairs(self, *, causal: bool) -> CorpusPairs:
        """The counted pairs, with tokens as indices into the sample."""
        of_place = {place: self.masks.get(int(n)) for place, n in enumerate(self.numbers)}
        places = np.arange(self.numbers.size)
        return CorpusPairs(blocks_of(self.lengths, places, of_place.get, causal))


def sampled_numbers(candidates: Candidates) -> NDArray[np.int64]:
    """The sentences that come first in the fixed order, up to `MAX_PAIRS` pairs, ascending."""
    chosen = take_within_budget(candidates.numbers, candidates.lengths**2, MAX_PAIRS)
    return np.sort(candidates.numbers[chosen])


def shown_numbers(candidates: Candidates) -> NDArray[np.int64]:
    """The sentences that come first, about `SAMPLE_TOKENS` tokens, ascending."""
    chosen = take_within_budget(candidates.numbers, candidates.lengths, SAMPLE_TOKENS)
    return np.sort(candidates.numbers[chosen])
