"""How much heads differ where nothing that matters does: between paraphrases, or sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.analysis.arrays import Bools, Floats
from core.model.trace import Trace

RATE = 0.05  # aimed at: the share of heads that a fresh paraphrase lifts over the floor
ENOUGH = 19  # of texts: the largest of as many is exceeded at this rate
PARAPHRASES = 20
FLOOR_RATE = 0.05  # measured on random weights by tests/analysis/test_compare.py


@dataclass(frozen=True, eq=False)
class Floor:
    """What a head's distance must exceed: `values` (layer, head), nan without any text.

    `count` is the number of texts that it comes from.
    """

    values: Floats
    count: int

    @property
    def few(self) -> bool:
        """Whether chance exceeds it more often than at `RATE`, since there were too few texts."""
        return self.count < ENOUGH

    def over(self, distances: Floats) -> Bools:
        """Which heads exceed it, (layer, head)."""
        return distances > self.values


def paraphrases(text: str, limit: int = PARAPHRASES) -> tuple[str, ...]:
    """The text with words replaced by synonyms, at most `limit` times, most changed last.

    Word order and capitals stay, and the list (``synonyms.toml``) is always used in the same way.
    Empty where it has none of the words.
    """
    raise NotImplementedError


def floor(distances: Floats) -> Floor:
    """The floor from the distances of a text to its paraphrases, (paraphrase, layer, head)."""
    raise NotImplementedError


def model_floor(traces: Iterable[Trace]) -> Floor:
    """The floor of two models: how much A's heads differ between two halves of a corpus.

    `traces` are of the corpus; each is compared with one of as many words, word by word in order.
    """
    raise NotImplementedError
