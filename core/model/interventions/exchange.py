"""Which heads carry the difference between two texts: what they write in A is put into B's run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import (
    FRESH_DRAWS,
    FRESH_SEED,
    head_table,
    replacement_rows,
)
from core.model.interventions.measures import Measurement, Outcome
from core.model.interventions.probe import Cut, Probe, probe_of, run
from core.model.interventions.reference import Doubles, outputs_of
from core.model.language import display_names
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.reference import Outputs
    from core.model.running.loaded import LoadedModel

    Groups = Sequence[Sequence[int]]  # positions of tokens, one group a unit

ROUNDINGS = 16  # of the largest number read: answers that are no further apart are the same


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange(Measurement):
    """How far what each head writes in A moves B's answer towards A's.

    Attributes
    ----------
    values : (layer, head), the share of the way from B's answer (0) to A's (1). Exactly 0 for a
        head that writes the same in both; NaN for heads that were left out or do not exist, and for
        all others where the answers are the same.
    draws : (draw, layer, head), the share when the head's output moves as far in a random
        direction: one rotation for all tokens.
    same_answer : whether A's and B's answers are equal up to rounding: there is no way to go.
    words : the likeliest next word of A and of B; B's second where that is one word. Or the
        likeliest classes.
    position : of the token of B whose word is measured.
    """

    values: Doubles
    draws: Doubles
    same_answer: bool


@refusing_to("run")
def exchange(
    model: LoadedModel,
    text_a: str,
    text_b: str,
    groups_a: Groups,
    groups_b: Groups,
    *,
    measure: Outcome | None = None,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = FRESH_DRAWS,
    progress: Callable[[int, int], None] | None = None,
    **cut: Unpack[Cut],
) -> Exchange:
    """Put each head's output (before W_O) on A into B's run, at all aligned tokens at once.

    Parameters
    ----------
    groups_a, groups_b : positions of the tokens of each aligned unit, in A and in its partner in B.
        Where a unit has more pieces on one side, every piece of B gets the mean of A's.
    measure, heads, draws, progress, max_tokens : as for :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured this way, or reads images.
    """
    raise NotImplementedError
