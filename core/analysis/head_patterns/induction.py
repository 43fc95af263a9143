"""Induction: how much a head attends to what followed the earlier copy of a token."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.analysis.head_patterns.measure import mean_scores, measure_text
from core.analysis.head_patterns.naming import NAMING
from core.model.trace import Token, Trace


@dataclass(frozen=True, eq=False)
class Induction:
    """Scores of all heads, 0 to 1, and their uniform baseline; (layer, head)."""

    scores: Floats
    uniform: Floats


def induction_scores(repeated: Iterable[Trace]) -> Induction:
    """Mean attention from each token of the second copy to the one after its earlier copy.

    Over all traces of :func:`core.model.trace_repeated`: sequences repeated twice, possibly between
    special tokens. In a random sequence only the earlier copy tells what comes next (Olsson
    et al. 2022, "prefix matching"). Raises `ValueError` for any other trace, or for none.
    """
    pattern = replace(NAMING["induction"], measured="pairs", pairs=_after_copy)
    measured = [measure_text(trace, [pattern]) for trace in repeated]
    if not measured:
        raise ValueError("there is no repeated sequence")
    scores = mean_scores(measured)
    return Induction(scores.means["induction"], scores.uniform["induction"])


def _after_copy(tokens: tuple[Token, ...]) -> Bools:
    """From each token of the second copy to the one after its earlier copy, (token, token)."""
    positions = np.array([token.position for token in tokens if not token.special], np.intp)
    period = len(positions) // 2
    ids = np.array([tokens[position].id for position in positions])
    if period < 2 or len(positions) % 2 or (ids[:period] != ids[period:]).any():
        raise ValueError("these tokens are not a sequence repeated twice")
    pairs = np.zeros((len(tokens),) * 2, dtype=np.bool_)
    pairs[positions[period:], positions[1 : period + 1]] = True
    return pairs
