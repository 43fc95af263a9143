"""Which heads follow a pattern on this text, by measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.analysis.head_patterns.measure import Scores, mean_scores, measure_text
from core.analysis.head_patterns.registry import PATTERNS, Pattern
from core.model.trace import Trace, kept

HIGHLIGHTED: Mapping[str, Pattern] = {
    pattern.link: pattern
    for pattern in sorted(PATTERNS, key=lambda each: each.highlight or 0)
    if pattern.highlight is not None
}


@dataclass(frozen=True, eq=False)
class HeadSearch:
    """The result of a search."""

    pattern: Pattern  # what was looked for
    scores: Floats  # (layer, head); nan where the text or the model has no such pair
    uniform: float  # the uniform baseline, mean over layers
    holds: Bools  # (layer, head): above the threshold and, except for entropy, the layer's baseline

    @property
    def measurable(self) -> bool:
        """Whether this text has such pairs at all, and the model permits any."""
        return bool(np.isfinite(self.scores).any())

    def ranked(self) -> list[tuple[int, int, float]]:
        """(layer, head, score) of all heads that could be measured, strongest first."""
        flat = self.scores.ravel()
        order = np.argsort(-flat, kind="stable")  # nan comes last
        heads = self.scores.shape[1]
        return [(*divmod(int(i), heads), float(flat[i])) for i in order if np.isfinite(flat[i])]


@kept
def find_heads(trace: Trace, name: str) -> HeadSearch:
    """The heads that follow a pattern on this text, `name` being its :attr:`Pattern.link`."""
    pattern = next(each for each in PATTERNS if each.link == name)
    measured = _scores(trace, pattern.measured == "entropy")
    scores, uniform = measured.means[pattern.score], measured.uniform[pattern.score]
    holds = scores > pattern.threshold
    if pattern.baseline == "uniform":
        holds &= scores > uniform
    finite = uniform[np.isfinite(uniform)]
    return HeadSearch(pattern, scores, float(finite.mean()) if finite.size else float("nan"), holds)


@kept
def _scores(trace: Trace, entropies: bool) -> Scores:
    """Of all patterns that are measured alike: a pass for each would take longer from two on."""
    alike = [each for each in PATTERNS if (each.measured == "entropy") == entropies]
    return mean_scores([measure_text(trace, alike)])
