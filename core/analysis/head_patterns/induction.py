"""Induction: how much a head looks at what came after the earlier copy of a token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.measure import mean_scores, measure_text
from core.analysis.head_patterns.naming import NAMING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from core.analysis.head_patterns.registry import Pattern
    from core.model.trace import Trace

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Induction:
    """Scores of all heads, 0 to 1, and those of a head with uniform attention; (layer, head)."""

    scores: Floats
    uniform: Floats

    def of_layer(self, layer: int, repeats: int) -> Induction:
        """One layer's scores, the same in each of `repeats` resamples: (repeat, head)."""
        shape = (repeats, self.scores.shape[1])
        return Induction(
            np.broadcast_to(self.scores[layer], shape), np.broadcast_to(self.uniform[layer], shape)
        )


def induction_scores(repeated: Iterable[Trace]) -> Induction:
    """Mean attention from each token of the second copy to the one after its earlier copy.

    Parameters
    ----------
    repeated : traces of sequences that stand twice, as :func:`core.model.trace_repeated` makes
        them; special tokens may stand around them. The mean is over all of them.

    After Olsson et al. 2022 ("prefix matching"): in a random sequence nothing but the earlier copy
    tells what comes next.

    Raises
    ------
    ValueError
        When there is no trace, or one that is no sequence repeated twice.
    """
    measured = [measure_text(trace, [_after_copy(trace)]) for trace in repeated]
    if not measured:
        raise ValueError("there is no repeated sequence")
    scores = mean_scores(measured)
    return Induction(scores.means["induction"], scores.uniform["induction"])


def _after_copy(trace: Trace) -> Pattern:
    """Induction on a text that stands twice: only from its second copy."""
    size = trace.shape[2]
    pairs = np.zeros((size, size), dtype=np.bool_)
    pairs[induction_places(trace)] = True
    return replace(NAMING["induction"], measured="pairs", pairs=lambda _tokens: pairs)


def induction_places(trace: Trace) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of the second copy, and of the tokens that follow their earlier copies.

    Raises
    ------
    ValueError
        When the ordinary tokens are not one sequence, of two or more, that stands twice.
    """
    places = np.array([token.position for token in trace.tokens if not token.special], np.intp)
    period = len(places) // 2
    ids = np.array([trace.tokens[place].id for place in places])
    if period < 2 or len(places) % 2 or (ids[:period] != ids[period:]).any():
        raise ValueError("these tokens are not a sequence repeated twice")
    return places[period:], places[1 : period + 1]
