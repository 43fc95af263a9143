"""What speaks for a pattern: the pattern itself as a matrix, and its share token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.measure import relative_entropy, uniform_attention
from core.analysis.head_patterns.naming import NAMING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Token

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One matrix of attention beside a pattern, on one text.

    Attributes
    ----------
    ideal : float32 (token, token), what a head that does nothing else would do: its rows are spread
        evenly over the pattern's pairs, and nan for tokens that have none.
    share : (token,), how much of each row follows; for "broad" the row's relative entropy. nan for
        tokens that have no such pair.
    uniform : (token,), the same of an even row.
    strongest : (token,), the position each token attends to most.
    """

    ideal: Array
    share: Floats
    uniform: Floats
    strongest: NDArray[np.intp]

    @property
    def tokens(self) -> int:
        """How many tokens have such a pair."""
        return int(np.isfinite(self.share).sum())


def evidence(weights: Array, even: Array, tokens: tuple[Token, ...], pattern: str) -> Evidence:
    """The evidence for `pattern`, a class of `core.analysis.head_patterns.naming.NAMING`.

    On a text that is not repeated as a whole, "induction" is from a token to those right after its
    earlier copies.

    Parameters
    ----------
    weights : attention, (token, token), rows summing to one.
    uniform : uniform attention to everything permitted; 0 is not permitted.
    """
    record = NAMING[pattern]
    allowed = even > 0
    pairs = allowed if record.pairs is None else allowed & record.pairs(tokens)
    has = np.asarray(pairs.any(axis=1))
    if record.measured == "entropy":
        relative, choice = relative_entropy(np.stack([weights, even]), np.stack([allowed, allowed]))
        has = choice[0]
        share, chance = relative
    else:
        share, chance = ((each * pairs).sum(axis=1, dtype=np.float64) for each in (weights, even))
    ideal = np.where(has[:, None], uniform_attention(pairs), np.float32(np.nan))
    return Evidence(
        ideal,
        np.where(has, share, np.nan),
        np.where(has, chance, np.nan),
        weights.argmax(axis=1),
    )
