"""Ablate heads or edges of the attention, and keep both passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import UNCHANGED, Intervention, Replacement
from core.model.interventions.heads import Replace, replacement_rows, replacements
from core.model.interventions.measures import Measurement, Outcome, measures_of
from core.model.interventions.probe import Cut, Probe, as_input, probe_of, run, whole_probe
from core.model.interventions.reference import Doubles
from core.model.language import display_names
from core.model.refusal import refusing_to
from core.model.running.tracing import trace_inputs
from core.model.trace import Trace

if TYPE_CHECKING:
    import torch

    from core.model.interventions.probe import Source
    from core.model.running.loaded import LoadedModel

DRAWS = 4  # maximum controls; for an edge, the keys with the nearest weights
TOP = 5  # words or classes: the likeliest before, and the likeliest after


class Cell(NamedTuple):
    """A query that must not attend to a key in one head; all indices are from 0."""

    query: int
    key: int
    layer: int
    head: int


class Expected(NamedTuple):
    """A word or a class, and its probability before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, eq=False, kw_only=True)
class AblationResult(Measurement):
    """A text or an image before and after an ablation.

    Attributes
    ----------
    before, after : the traces; the second is the model's own under the intervention.
    change : in what is measured, as the values of :class:`core.model.interventions.heads.Effects`.
    draws : (draw,), the change in each control: heads move as far in random directions, one
        rotation for all; instead of an edge, another key of its row is cut, nearest weights first.
    expected : what is likeliest before or after, the likeliest before first; empty where the model
        names neither words nor classes.
    """

    before: Trace
    after: Trace
    change: float
    draws: Doubles
    expected: tuple[Expected, ...]

    @property
    def control(self) -> float:
        """The largest absolute value of the :attr:`draws`; NaN without any."""
        return float(np.abs(self.draws).max()) if len(self.draws) else float("nan")


@refusing_to("run")
def ablate(
    model: LoadedModel,
    text: Source,
    *,
    heads: Collection[tuple[int, int]] = (),
    cells: Sequence[Cell] = (),
    replace: Replace = "mean",
    measure: Outcome | None = None,
    draws: int = DRAWS,
    **cut: Unpack[Cut],
) -> AblationResult:
    """Run a text or an image twice, the second time without the given heads and cells.

    Parameters
    ----------
    heads : (layer, head), from 0, whose outputs before W_O are replaced, all at once.
    cells : forbidden before the softmax, so the other weights of a row grow in proportion (Geva et
        al. 2023, section 3).
    replace, measure, pair, max_tokens : as for :func:`core.model.effects`.
    draws : the maximum number of controls.

    Raises `UnsupportedModelError` if it cannot be measured this way, or a query would keep no key.
    """
    if cells and model.way == "fast":
        # The fast function takes no extra mask, and rounds differently from the exact one.
        model = dataclasses.replace(model, way="exact")
    item = as_input(model, text, **cut)
    (before,) = trace_inputs(model, [item])
    _check_rows(before, cells)

    def interventions(probe: Probe, draws: int) -> list[Intervention]:
        """What is taken away, then the controls."""
        replaced: Iterable[Sequence[Replacement]] = repeat(())
        if heads:
            rows = list(replacement_rows(*replacements(probe, text, replace), heads, draws))
            replaced = ([row for draw, row in rows if draw == each] for each in range(1 + draws))
        masks = _nearest_masks(probe, before, cells) if cells else repeat({})
        return list(islice(map(Intervention, replaced, masks), 1 + draws))

    def readings(probe: Probe, draws: int) -> list[torch.Tensor]:
        return [run(probe, each) for each in (UNCHANGED, *interventions(probe, draws))]

    (change,) = interventions(whole_probe(model, item), 0)
    (after,) = trace_inputs(model, [item], change=change)
    probe = probe_of(model, text, measure, **cut)
    reads = readings(probe, draws)
    change_by, *draws_by = (float(probe.compare(reads[0], each)[0]) for each in reads[1:])
    says: Outcome = "class" if model.labels else "kl"  # which reads all classes or words
    said = reads if says == probe.measure else None
    if said is None and says in measures_of(model):
        said = readings(probe_of(model, text, says, **cut), 0)
    return AblationResult(
        before=before,
        after=after,
        change=change_by,
        draws=np.array(draws_by),
        expected=_expected(model, said[0][0], said[1][0]) if said else (),
        **probe.of(reads[0]),
    )


def _masks(
    cells: Iterable[Cell], heads: int, tokens: int, device: str = "cpu"
) -> dict[int, torch.Tensor]:
    """By layer, True in the cells, (head, query, key)."""
    import torch

    masks: dict[int, torch.Tensor] = {}
    empty = torch.zeros(heads, tokens, tokens, dtype=torch.bool, device=device)
    for cell in cells:
        if max(cell.query, cell.key) < tokens:  # else beyond the tokens that the measure reads
            masks.setdefault(cell.layer, empty.clone())[cell.head, cell.query, cell.key] = True
    return masks


def _nearest_masks(
    probe: Probe, trace: Trace, cells: Sequence[Cell]
) -> Iterator[dict[int, torch.Tensor]]:
    """Masks of the cells, then of other keys that each query sees, the nearest weights first."""
    rows = []
    for cell in cells:
        row = trace.attention(cell.layer, cell.head)[cell.query]
        order = np.argsort(np.abs(row - row[cell.key]), kind="stable")
        others = (int(key) for key in order if key != cell.key and row[key])
        rows.append([cell, *(cell._replace(key=key) for key in others)])
    shape = trace.shape[1], len(probe.item.tokens), probe.model.device
    return (_masks(each, *shape) for each in zip(*rows, strict=False))


def _check_rows(trace: Trace, cells: Sequence[Cell]) -> None:
    """Refuse to leave a query without any key to attend to."""
    for layer, mask in _masks(cells, *trace.shape[1:3]).items():
        permitted = np.isfinite(trace.scores(layer))
        emptied = permitted.any(axis=-1) & ~(permitted & ~mask.numpy()).any(axis=-1)
        if emptied.any():
            raise UnsupportedModelError(
                "A query would be left without any key to attend to.", "Take away another edge."
            )


def _expected(
    model: LoadedModel, before: torch.Tensor, after: torch.Tensor
) -> tuple[Expected, ...]:
    """What is likeliest before and after, from the logits of all words or classes."""
    before, after = before.softmax(-1), after.softmax(-1)
    count = min(TOP, len(before))
    ids = [*before.topk(count).indices.tolist(), *after.topk(count).indices.tolist()]
    ranked = sorted(dict.fromkeys(ids), key=lambda each: -float(before[each]))
    labels = model.labels
    names = [labels[each] for each in ranked] if labels else display_names(model.tokenizer, ranked)
    return tuple(
        Expected(name, float(before[each]), float(after[each]))
        for each, name in zip(ranked, names, strict=True)
    )
