"""Which texts of a corpus are run when not all of them may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.model.tracing import token_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model.loading import LoadedModel

SEED = 0
_AT_ONCE = 256  # texts that are tokenized before it is asked whether they are enough


@dataclass(frozen=True)
class Chosen:
    """Texts of a corpus within a budget.

    Attributes
    ----------
    places : of the texts, ascending.
    lengths : how many tokens the model gets of each, special ones included.
    of : how many texts the corpus has.
    """

    places: tuple[int, ...]
    lengths: tuple[int, ...]
    of: int

    @property
    def tokens(self) -> int:
        """Of all chosen texts together."""
        return sum(self.lengths)


def choose_texts(
    model: LoadedModel, texts: Sequence[str], most_tokens: int, max_tokens: int | None = None
) -> Chosen:
    """Random texts (fixed seed) of at most so many tokens together, but one at least.

    All of them where they fit. No more texts are tokenized than are needed to know.

    Parameters
    ----------
    max_tokens : texts are cut at this length if the model would take more.
    """
    order = np.random.default_rng(SEED).permutation(len(texts))
    places: list[int] = []
    lengths: list[int] = []
    left = most_tokens
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE].tolist()
        for place, length in zip(
            some, token_lengths(model, [texts[i] for i in some], max_tokens), strict=True
        ):
            if places and length > left:
                return _in_order(places, lengths, len(texts))
            places.append(place)
            lengths.append(length)
            left -= length
    return _in_order(places, lengths, len(texts))


def _in_order(places: list[int], lengths: list[int], of: int) -> Chosen:
    pairs = sorted(zip(places, lengths, strict=True))
    return Chosen(tuple(place for place, _ in pairs), tuple(length for _, length in pairs), of)
