"""The evidence for a pattern on one text: the share of each token's attention that follows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.head_patterns.measure import relative_entropy
from core.analysis.head_patterns.naming import NAMING
from core.model.trace import Array, Token


@dataclass(frozen=True, eq=False)
class Evidence:
    """How much one attention matrix follows a pattern."""

    share: Floats  # (token,), of each row's attention; for "broad" relative entropy; nan if no pair
    uniform: Floats  # (token,), the same for uniform attention
    strongest: Indices  # (token,), position of the key token that each token attends to most

    @property
    def tokens(self) -> int:
        """How many tokens have such a pair."""
        return int(np.isfinite(self.share).sum())


def evidence(
    weights: Array,
    uniform: Array,
    tokens: tuple[Token, ...],
    pattern: str,
    source: tuple[Token, ...] | None = None,
) -> Evidence:
    """The evidence for a pattern of `NAMING`.

    Here "induction" goes from a token to those right after its earlier copies. `weights` are
    attention, (token, key token); `uniform` is the uniform attention over permitted keys, 0 where
    not permitted; `source` are the tokens that cross attention goes to.
    """
    record = NAMING[pattern]
    allowed = uniform > 0
    pairs = allowed & record.between(tokens, source)
    if record.measured == "entropy":
        both = np.stack([weights, uniform])
        (share, baseline), (has_pair, _) = relative_entropy(both, np.stack([allowed, allowed]))
    else:
        has_pair = pairs.any(axis=1)
        share, baseline = (
            (each * pairs).sum(axis=1, dtype=np.float64) for each in (weights, uniform)
        )
    return Evidence(
        np.where(has_pair, share, np.nan),
        np.where(has_pair, baseline, np.nan),
        weights.argmax(axis=1),
    )
