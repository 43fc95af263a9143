"""From scores to pattern names: thresholds, and the pattern that each head follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.head_patterns.registry import PATTERNS, Pattern

# By name, from the most specific to the least: a head is named by the first it clearly follows.
NAMING: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in sorted(PATTERNS, key=lambda each: each.naming.rank if each.naming else 0)
    if pattern.naming
}
NONE = "none"
TOO_SHORT = "too_short"  # instead of a name, for texts under the minimum
THRESHOLDS: Mapping[str, float] = {name: pattern.threshold for name, pattern in NAMING.items()}

# The share of heads named by a pattern other than "broad", in 20 networks with random weights in
# the shape of bundled/minilm and 20 in that of bundled/gpt2-novels (standard deviations of 0.02 to
# 0.3), on 6 texts of each length:
#     tokens      6     8    10    12    16    24    48   128
#     as minilm  7.4   5.1   3.8   3.4   2.3   1.9   1.4   0.7  %
#     as gpt2   29.7  15.4   6.3   3.3   1.7   0.8   0.1   0.0  %
#
# It grows with the weights: with 0.02 and 0.05, as at initialisation, none on 8, 12 or 48 tokens;
# with 0.3, 12.8, 10.0 and 4.3 % as minilm, 28.1, 7.6 and 0.0 % as gpt2.
# On shorter texts than this, over about one head in twenty is named by accident; the shortest demo
# of this project, "Oh, this book? I've enjoyed it.", has 13 tokens, or 12 without special tokens.
MIN_TOKENS = 12


@dataclass(frozen=True, eq=False)
class Assignment:
    """The pattern of each head; both arrays have the shape of the scores."""

    number: NDArray[np.int_]  # index of the pattern in `NAMING`, -1 for none
    confidence: Floats  # (score - limit) / (1 - limit), 1 for all attention; nan for none

    @property
    def names(self) -> NDArray[np.str_]:
        """The patterns by name, "none" where no pattern passes."""
        return np.array([*NAMING, NONE])[self.number]


def score_limits(uniform: Mapping[str, Floats]) -> dict[str, Floats]:
    """What a score must exceed, by pattern: its threshold or the uniform baseline, if higher.

    `uniform` is by score.
    """
    return {
        name: np.maximum(uniform[pattern.score], pattern.threshold)
        if pattern.baseline == "uniform"
        else np.full_like(uniform[pattern.score], pattern.threshold)
        for name, pattern in NAMING.items()
    }


def assign_patterns(
    scores: Mapping[str, Floats],
    uniform: Mapping[str, Floats],
    query_tokens: Mapping[str, Floats],
) -> Assignment:
    """The first pattern of `NAMING` that has enough query tokens and exceeds its limit.

    All arguments are by score and of one shape: the score (nan never passes), its uniform baseline,
    and the number of query tokens it is averaged over.
    """
    limits = score_limits(uniform)
    shape = scores["previous"].shape
    number = np.full(shape, -1)
    confidence = np.full(shape, np.nan)
    for index, (name, pattern) in enumerate(NAMING.items()):
        score, limit = scores[pattern.score], limits[name]
        enough = query_tokens[pattern.score] >= pattern.min_query_tokens
        passes = (number < 0) & enough & (score > limit)
        number[passes] = index
        confidence[passes] = ((score - limit)[passes] / (1 - limit)[passes]).clip(0, 1)
    return Assignment(number, confidence)


def too_short(tokens: float) -> bool:
    """Whether a text of this many tokens, special ones included, is too short to name patterns."""
    return tokens < MIN_TOKENS
