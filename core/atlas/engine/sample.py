"""The sentences on whose pairs faithfulness is measured and c is chosen: the same for all heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.atlas.blocks import MAX_PAIRS, CorpusPairs, blocks_of
from core.atlas.data import Masks
from core.atlas.engine.shard import Shard
from core.atlas.engine.sums import SAMPLE_TOKENS, Candidates
from core.atlas.priority import first_within


@dataclass(frozen=True, eq=False)
class Sample:
    """Some sentences of a corpus, and the vectors of their tokens.

    Attributes
    ----------
    numbers, lengths : of the sentences, ascending by number, (sentence,).
    masks : the unusual ones, by the sentence's number.
    of_head : queries and keys of a (layer, head), float64 (token of the sample, dim) each.
    """

    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]
    masks: Mapping[int, Masks]
    of_head: Callable[[int, int], tuple[Floats, Floats]]

    def pairs(self, *, causal: bool) -> CorpusPairs:
        """The pairs that count; tokens are those of the sample."""
        of_place = {place: self.masks.get(int(n)) for place, n in enumerate(self.numbers)}
        places = np.arange(self.numbers.size)
        return CorpusPairs(blocks_of(self.lengths, places, of_place.get, causal))


def sampled_numbers(candidates: Candidates) -> NDArray[np.int64]:
    """The sentences with up to `MAX_PAIRS` pairs that come first in the fixed order, ascending."""
    chosen = first_within(candidates.numbers, candidates.lengths**2, MAX_PAIRS)
    return np.sort(candidates.numbers[chosen])


def shown_numbers(candidates: Candidates) -> NDArray[np.int64]:
    """The sentences of about `SAMPLE_TOKENS` tokens that come first, ascending."""
    chosen = first_within(candidates.numbers, candidates.lengths, SAMPLE_TOKENS)
    return np.sort(candidates.numbers[chosen])


def sample_of(part: Shard, numbers: NDArray[np.int64]) -> Sample:
    """Those of these sentences that a part has; nothing is copied where these are all."""
    own, sentence = part.texts.numbers, part.texts.tokens.sentence
    counts = np.bincount(np.searchsorted(own, sentence))
    inside, vectors = np.isin(own, numbers), part.vectors
    if inside.all():
        return Sample(own, counts, part.masks, vectors.of_head)
    tokens = np.flatnonzero(np.isin(sentence, numbers))

    def of_head(layer: int, head: int) -> tuple[Floats, Floats]:
        queries, keys = vectors.of_head(layer, head)
        return queries[tokens], keys[tokens]

    return Sample(own[inside], counts[inside], part.masks, of_head)
