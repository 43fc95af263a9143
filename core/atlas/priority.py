"""A fixed random order of a corpus's sentences, computable from each one's number alone.

The lowest priorities come first in every sample. A sample of all sentences can be built from the
samples of the parts, whichever way they are joined (bottom-k sampling).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Indices

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def priorities(numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Number n + 1 of SplitMix64 seeded with 0, for each n (Steele et al. 2014); never repeats."""
    mixed = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTORS[1]
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def take_within_budget(
    numbers: NDArray[np.integer], sizes: NDArray[np.integer], budget: int
) -> Indices:
    """Indices of the sentences that come first, as long as their sizes fit the budget in total.

    They are in the order of their priorities; at least one, if there is any sentence.
    """
    order = np.argsort(priorities(numbers))
    fitting = int(np.searchsorted(np.cumsum(sizes[order]), budget, side="right"))
    return order[: max(1, fitting)]


def tokens_within(sentence: NDArray[np.integer], budget: int) -> tuple[Indices, Indices]:
    """The first sentences with up to `budget` tokens in total, and these tokens; both ascending.

    `sentence` is the sentence of each token, numbered without gaps.
    """
    lengths = np.bincount(sentence)
    sentences = np.sort(take_within_budget(np.arange(lengths.size), lengths, budget))
    return sentences, np.flatnonzero(np.isin(sentence, sentences))
