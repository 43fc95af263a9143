"""Induction: how much a head looks at what came after the earlier copy of a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.measure import even_attention
from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from core.model.trace import Array, Trace

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Induction:
    """Scores of all heads, 0 to 1, and those of a head with uniform attention; (layer, head)."""

    scores: Floats
    even: Floats

    def of_layer(self, layer: int, repeats: int) -> Induction:
        """One layer's scores, the same in each of `repeats` resamples: (repeat, head)."""
        shape = (repeats, self.scores.shape[1])
        return Induction(
            np.broadcast_to(self.scores[layer], shape), np.broadcast_to(self.even[layer], shape)
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
    found = [_of_text(trace) for trace in repeated]
    if not found:
        raise ValueError("there is no repeated sequence")
    scores, even = np.mean(found, axis=0)
    return Induction(scores, even)


def _of_text(trace: Trace) -> tuple[Floats, Floats]:
    rows, columns = induction_places(trace)
    heads = trace.shape[1]
    scores, even = [], []
    for layer in range(trace.shape[0]):
        chance = even_attention(permitted_pairs(trace, layer))
        scores.append(_mean_at(trace.attention(layer), rows, columns))
        even.append(np.broadcast_to(_mean_at(chance, rows, columns), heads))
    return np.stack(scores), np.stack(even)


def _mean_at(weights: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
    return np.asarray(weights[:, rows, columns].mean(axis=1, dtype=np.float64))


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
