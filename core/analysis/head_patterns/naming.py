"""From scores to the name of a pattern: thresholds, and which pattern a head is said to follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.registry import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from core.analysis.head_patterns.registry import Pattern

    Floats = NDArray[np.float64]

# By name, from the most specific to the least: the first that a head clearly follows names it.
NAMING: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in sorted(PATTERNS, key=lambda each: each.naming.rank if each.naming else 0)
    if pattern.naming
}
NONE = "none"
TOO_SHORT = "too_short"  # instead of a name where the text is, for the pages
THRESHOLDS: Mapping[str, float] = {name: pattern.threshold for name, pattern in NAMING.items()}


@dataclass(frozen=True, eq=False)
class Assignment:
    """Attributes: `number`, of the class in `NAMING`, -1 for none; `confidence`, nan for none.

    Both have the shape of the scores.
    """

    number: NDArray[np.int_]
    confidence: Floats

    @property
    def names(self) -> NDArray[np.str_]:
        """The classes in words, "none" where no pattern passes."""
        return np.array([*NAMING, NONE])[self.number]


def complete(thresholds: Mapping[str, float] | None) -> dict[str, float]:
    """All thresholds, with these in place of the usual ones.

    Raises
    ------
    ValueError
        For an unknown class.
    """
    unknown = set(thresholds or {}) - set(NAMING)
    if unknown:
        raise ValueError(f"no class is called {min(unknown)!r}: there are {', '.join(NAMING)}")
    return {**THRESHOLDS, **(thresholds or {})}


def thresholds_above(
    uniform: Mapping[str, Floats], thresholds: Mapping[str, float] | None = None
) -> dict[str, Floats]:
    """What a score must exceed, by class: the threshold, or the uniform baseline if that is more.

    `uniform` is what a uniform head scores, by score.
    """
    wanted = complete(thresholds)
    return {
        name: np.maximum(uniform[pattern.score], wanted[name])
        if pattern.baseline == "uniform"
        else np.full_like(uniform[pattern.score], wanted[name])
        for name, pattern in NAMING.items()
    }


def assign_patterns(
    scores: Mapping[str, Floats],
    uniform: Mapping[str, Floats],
    query_tokens: Mapping[str, Floats],
    thresholds: Mapping[str, float] | None = None,
) -> Assignment:
    """The first class of `NAMING` that has enough evidence and exceeds its threshold, and how far.

    Parameters
    ----------
    scores, uniform, query_tokens : by score, all of one shape; a score of nan never passes.
        `uniform` is that of a uniform head; `query_tokens` how many tokens the score is over.

    The confidence is (score - threshold) / (1 - threshold): 0 at the threshold, 1 when all
    attention follows.
    """
    limits = thresholds_above(uniform, thresholds)
    shape = scores["previous"].shape
    number = np.full(shape, -1)
    confidence = np.full(shape, np.nan)
    for index, (name, pattern) in enumerate(NAMING.items()):
        value, limit = scores[pattern.score], limits[name]
        enough = query_tokens[pattern.score] >= pattern.min_query_tokens
        passes = (number < 0) & enough & (value > limit)
        number[passes] = index
        confidence[passes] = ((value - limit)[passes] / (1 - limit)[passes]).clip(0, 1)
    return Assignment(number, confidence)
