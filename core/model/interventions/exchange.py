"""Which heads carry the difference between two texts: what they write in A is put into B's run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import FRESH_DRAWS, FRESH_SEED, head_table, replacement_rows
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
    import torch

    if model.sees_images:
        raise UnsupportedModelError("{name} reads images: there are no words to align.", "")
    sides = [probe_of(model, text, measure, **cut) for text in (text_a, text_b)]
    probe = sides[1]
    (answer_a, outputs_a), (answer_b, own) = [(run(each), outputs_of(each)) for each in sides]
    given = _exchanged(own, outputs_a, groups_a, groups_b)
    answer, words = _answer(probe, answer_a, answer_b)
    way = (answer(answer_a) - answer(answer_b))[0]
    rounding = ROUNDINGS * torch.finfo(model.network.dtype).eps * answer_b.abs().max()
    same = bool(way.norm() <= rounding)
    places = [(layer, head) for layer, each in enumerate(own) for head in range(each.shape[1])]
    wanted = [each for each in places if heads is None or each in heads]
    moved = [(i, j) for i, j in wanted if not torch.equal(own[i][:, j], given[i][:, j])]
    unit = way / (1 if same else way.square().sum())
    towards = replace(probe, value=lambda before, read: (answer(before) - answer(read)) @ unit)
    rows = [] if same else replacement_rows(own, given, moved, draws, FRESH_SEED)
    table = np.full((1 + draws, model.layers, model.heads), np.nan)
    found = head_table(towards, rows, progress=progress)[1]
    table[: len(found)] = found
    for layer, head in set(wanted) - set(moved):
        table[:, layer, head] = 0
    facts = probe.of(answer_b) | {"unit": "share of the way", "words": words}
    return Exchange(values=table[0], draws=table[1:], same_answer=same, **facts)


def _exchanged(own: Outputs, others: Outputs, groups_a: Groups, groups_b: Groups) -> Outputs:
    """B's `own` outputs with those of A at the aligned tokens, as far as both sides are read."""
    sources: dict[int, list[int]] = {}  # of a token of B, tokens of A
    for unit_a, unit_b in zip(groups_a, groups_b, strict=True):
        pieces = [each for each in unit_a if each < len(others[0])]
        for place, token in enumerate(unit_b):
            if pieces and token < len(own[0]):
                sources[token] = [pieces[place]] if len(pieces) == len(unit_b) else pieces
    given = tuple(layer.clone() for layer in own)
    for mine, theirs in zip(given, others, strict=True):
        for token, pieces in sources.items():
            mine[token] = theirs[pieces].mean(0)
    return given


def _answer(
    probe: Probe, a: torch.Tensor, b: torch.Tensor
) -> tuple[Callable[[torch.Tensor], torch.Tensor], tuple[str, ...]]:
    """What is compared, (copy, number), from what is read; and the words or classes it is about.

    For "kl" the log-probabilities of words less their mean, where a word counts as much as A and B
    together expect it: the squared distance of the two answers is twice their KL divergence, to
    second order.
    """
    kind, model = probe.measure, probe.model
    first, second = int(a[0].argmax()), int(b[0].argmax())
    if first == second and b.shape[1] > 1:
        second = int(b[0].topk(2).indices[1])
    if kind == "logit_difference":
        answer = lambda read: read[:, [first]] - read[:, [second]]
    elif kind == "kl":
        chance = (a.softmax(-1) + b.softmax(-1))[0] / 2
        answer = lambda read: (read - (read @ chance)[:, None]) * chance.sqrt()
    else:
        answer = lambda read: read
    if kind in {"kl", "logit_difference"}:
        return answer, tuple(display_names(model.tokenizer, [first, second]))
    return answer, tuple(model.labels[each] for each in (first, second)) if kind == "class" else ()
