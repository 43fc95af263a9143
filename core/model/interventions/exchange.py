"""Which heads carry the difference between two texts: what they write in A is put into B's run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from core.model.interventions.heads import FRESH_DRAWS, Effects, head_table, replacement_rows
from core.model.interventions.measures import Outcome
from core.model.interventions.probe import Cut, probe_of, run
from core.model.interventions.reference import outputs_of
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.reference import Outputs
    from core.model.running.loaded import LoadedModel

    Groups = Sequence[Sequence[int]]  # positions of tokens, one group a unit

ROUNDINGS = 16  # of the largest number read: answers that are no further apart are the same


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange(Effects):
    """How far what each head writes in A moves B's answer towards A's.

    Attributes
    ----------
    values, draws : shares of the straight way from B's answer (0) to A's (1). Exactly 0 for a head
        that writes the same in both texts; NaN if left out, or if the answers are the same.
    same_answer : whether the answers are equal up to rounding, so that there is no way to go.
    """

    same_answer: bool


@refusing_to("run")
def exchange(
    model: LoadedModel,
    text_a: str,
    text_b: str,
    groups_a: Groups,
    groups_b: Groups,
    *,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = FRESH_DRAWS,
    **cut: Unpack[Cut],
) -> Exchange:
    """Put each head's output before W_O on A into B's run, at all aligned tokens at once.

    `groups_a` and `groups_b` hold the positions of the tokens of each unit of A, and of its partner
    in B; where these differ in number, each of B gets the mean of A's. Other parameters, the
    measure (by default) and errors are as for :func:`core.model.effects`.
    """
    import torch

    sides = [probe_of(model, text, **cut) for text in (text_a, text_b)]
    (a, outputs_a), (b, own) = [(run(each), outputs_of(each)) for each in sides]
    given = _exchanged(own, outputs_a, groups_a, groups_b)
    probe, answer = sides[1], _answer(sides[1].measure, a, b)
    way = (answer(a) - answer(b))[0]
    same = bool(way.norm() <= ROUNDINGS * torch.finfo(model.network.dtype).eps * b.abs().max())
    unit = way / (1 if same else way.square().sum())
    towards = replace(probe, value=lambda before, read: (answer(before) - answer(read)) @ unit)
    places = {(layer, head) for layer, each in enumerate(own) for head in range(each.shape[1])}
    wanted = places if heads is None else places & set(heads)
    moved = {(i, j) for i, j in wanted if not torch.equal(own[i][:, j], given[i][:, j])}
    rows = replacement_rows(own, given, () if same else moved, draws)
    found = head_table(towards, rows)[1]
    table = np.broadcast_to(found, (1 + draws, *found.shape[1:])).copy()
    for place in wanted - moved:
        table[:, *place] = 0
    facts = probe.of(b) | {"unit": "share of the way"}
    return Exchange(values=table[0], draws=table[1:], replace="resample", same_answer=same, **facts)


def _exchanged(own: Outputs, others: Outputs, groups_a: Groups, groups_b: Groups) -> Outputs:
    """B's `own` outputs with those of A at the aligned tokens, as far as both sides are read."""
    given = tuple(layer.clone() for layer in own)
    for unit_a, unit_b in zip(groups_a, groups_b, strict=True):
        if max(unit_a) < len(others[0]) and max(unit_b) < len(own[0]):
            for mine, theirs in zip(given, others, strict=True):
                source = theirs[list(unit_a)]
                mine[list(unit_b)] = source if len(unit_a) == len(unit_b) else source.mean(0)
    return given


def _answer(
    measure: Outcome, a: torch.Tensor, b: torch.Tensor
) -> Callable[[torch.Tensor], torch.Tensor]:
    """The answer, (copy, number), in what was read; A's and B's readings decide what counts.

    For "kl" the logits less their mean, where a word counts as much as A and B together expect it:
    the squared distance of the two answers is twice their KL divergence, to second order.
    """
    if measure == "kl":
        chance = (a.softmax(-1) + b.softmax(-1))[0] / 2
        return lambda read: (read - (read @ chance)[:, None]) * chance.sqrt()
    return lambda read: read
