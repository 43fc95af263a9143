"""Which heads follow a pattern on this text: found by measuring, not by a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.scores import head_scores, uniform_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Trace


@dataclass(frozen=True)
class Pattern:
    """What to look for: the score of :func:`head_scores` that measures it, and from where it holds.

    `threshold` is a share of attention (of the largest entropy for "entropy"): 0.5, 0.6 and 0.78
    are those of the project's definitions after Clark et al. 2019; "more than half" is ours for
    words and for the other sentence.
    """

    score: str
    threshold: float


PATTERNS: dict[str, Pattern] = {
    "next": Pattern("next", 0.5),
    "previous": Pattern("previous", 0.5),
    "delimiters": Pattern("delimiter", 0.6),
    "words": Pattern("related_word", 0.5),
    "sentence": Pattern("other_sentence", 0.5),
    "broad": Pattern("entropy", 0.78),
}


@dataclass(frozen=True, eq=False)
class Search:
    """What was found.

    Attributes
    ----------
    pattern : what was looked for.
    scores : float64 (layer, head); nan where the text or the model has no such pair.
    even : the mean over layers of what a head that attends evenly scores on this text.
    holds : boolean (layer, head): above the threshold, and above an even head of the same layer
        (entropy excepted, of which an even head has the most).
    """

    pattern: Pattern
    scores: NDArray[np.float64]
    even: float
    holds: NDArray[np.bool_]

    @property
    def measurable(self) -> bool:
        """Whether this text has such pairs at all, and the model permits one."""
        return bool(np.isfinite(self.scores).any())

    def ranked(self) -> list[tuple[int, int, float]]:
        """(layer, head, score) of all heads that could be measured, strongest first."""
        flat = np.where(np.isfinite(self.scores), self.scores, -1).ravel()
        order = np.argsort(-flat, kind="stable")
        heads = self.scores.shape[1]
        return [(int(i) // heads, int(i) % heads, float(flat[i])) for i in order if flat[i] >= 0]


def find_heads(trace: Trace, name: str) -> Search:
    """The heads that follow the pattern `name` of `PATTERNS` on this text."""
    pattern = PATTERNS[name]
    scores = head_scores(trace)[pattern.score]
    even = uniform_scores(trace)[pattern.score]
    holds = np.nan_to_num(scores, nan=-1) > pattern.threshold
    if pattern.score != "entropy":
        holds &= np.nan_to_num(scores, nan=-1) > np.nan_to_num(even, nan=1)
    finite = even[np.isfinite(even)]
    return Search(pattern, scores, float(finite.mean()) if finite.size else float("nan"), holds)
