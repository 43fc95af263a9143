"""Ablate heads or edges of the attention, and keep both passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import UNCHANGED, Intervention, Replacement
from core.model.interventions.heads import Replace, replacement_rows, replacements
from core.model.interventions.measures import Measurement, Outcome, measures_of
from core.model.interventions.probe import Probe, as_input, probe_of, run, whole_probe
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
_OF_WORDS = {"kl", "logit_difference"}  # measures that read the logits of all words


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


@dataclass(frozen=True, eq=False)
class _Ablation:
    """What to ablate in an input's attention, with its trace from before."""

    source: Source
    before: Trace
    heads: Collection[tuple[int, int]]
    cells: Sequence[Cell]
    replace: Replace

    def interventions(self, probe: Probe, draws: int) -> Iterator[Intervention]:
        """The ablation, then its controls."""
        replaced: Iterable[Sequence[Replacement]] = repeat(())
        if self.heads:
            outputs = replacements(probe, self.source, self.replace)
            rows = list(replacement_rows(*outputs, self.heads, draws))
            replaced = ([row for draw, row in rows if draw == each] for each in range(1 + draws))
        masks = self._forbidden(probe) if self.cells else repeat({})
        return islice(map(Intervention, replaced, masks), 1 + draws)

    def _forbidden(self, probe: Probe) -> Iterator[dict[int, torch.Tensor]]:
        """Masks of the cells, then of cells with other keys instead, the nearest weights first."""
        import torch

        shape, device = (self.before.shape[1], probe.tokens), probe.model.network.device
        keys = [[cell.key, *_nearest_keys(self.before, cell)] for cell in self.cells]
        for places in zip(*keys, strict=False):
            cells = [c._replace(key=key) for c, key in zip(self.cells, places, strict=True)]
            masks = _masks(cells, shape).items()
            yield {layer: torch.tensor(mask, device=device) for layer, mask in masks}

    def passes(self, probe: Probe, draws: int) -> list[torch.Tensor]:
        """The readings without any change, under the ablation, and under each control."""
        changes = (UNCHANGED, *self.interventions(probe, draws))
        return [run(probe, change) for change in changes]


@refusing_to("run")
def ablate(
    model: LoadedModel,
    text: Source,
    *,
    heads: Collection[tuple[int, int]] = (),
    cells: Sequence[Cell] = (),
    replace: Replace = "mean",
    measure: Outcome | None = None,
    pair: str | None = None,
    max_tokens: int | None = None,
    draws: int = DRAWS,
) -> AblationResult:
    """Run a text or an image twice, the second time without the given heads and cells.

    Parameters
    ----------
    heads : (layer, head), from 0, whose outputs before W_O are replaced, all at once.
    cells : forbidden before the softmax, so the other weights of a row grow in proportion (Geva et
        al. 2023, section 3).
    replace, measure, pair, max_tokens : as for :func:`core.model.effects`.
    draws : the maximum number of controls.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be intervened on or measured this way, or a query would keep no key.
    """
    if cells and model.way == "fast":
        # The fast function takes no extra mask, and rounds differently from the exact one.
        model = dataclasses.replace(model, way="exact")
    item = as_input(model, text, pair, max_tokens)
    (before,) = trace_inputs(model, [item])
    _check_rows(before, cells)
    ablation = _Ablation(text, before, heads, cells, replace)
    (change,) = ablation.interventions(whole_probe(model, item), 0)
    (after,) = trace_inputs(model, [item], change=change)
    probe = probe_of(model, text, measure, pair=pair, max_tokens=max_tokens)
    reads = ablation.passes(probe, draws)
    change_by, *draws_by = (float(probe.compare(reads[0], each)[0]) for each in reads[1:])
    readings, kind = reads, _says(model, probe.measure)
    if kind not in {None, probe.measure}:
        readings = ablation.passes(probe_of(model, text, kind, pair=pair, max_tokens=max_tokens), 0)
    return AblationResult(
        before=before,
        after=after,
        change=change_by,
        draws=np.array(draws_by),
        expected=() if kind is None else _expected(model, readings[0][0], readings[1][0]),
        **probe.of(reads[0]),
    )


def _says(model: LoadedModel, measure: Outcome) -> Outcome | None:
    """The measure that reads all words or classes: `measure` if it does; None without one."""
    offered = measures_of(model)
    if "kl" in offered:
        return measure if measure in _OF_WORDS else "kl"
    return None if model.classifier is None else "class"


def _masks(cells: Sequence[Cell], shape: tuple[int, int]) -> dict[int, NDArray[np.bool_]]:
    """By layer, True in the cells, (head, query, key); `shape` is (heads, tokens)."""
    heads, tokens = shape
    masks: dict[int, NDArray[np.bool_]] = {}
    for cell in cells:
        if max(cell.query, cell.key) >= tokens:  # beyond the tokens that the measure reads
            continue
        mask = masks.setdefault(cell.layer, np.zeros((heads, tokens, tokens), dtype=np.bool_))
        mask[cell.head, cell.query, cell.key] = True
    return masks


def _check_rows(trace: Trace, cells: Sequence[Cell]) -> None:
    """Refuse to leave a query without any key to attend to."""
    for layer, mask in _masks(cells, trace.shape[1:3]).items():
        permitted = np.isfinite(trace.scores(layer))
        emptied = permitted.any(axis=-1) & ~(permitted & ~mask).any(axis=-1)
        if emptied.any():
            raise UnsupportedModelError(
                "A query would be left without any key to attend to.", "Take away another edge."
            )


def _nearest_keys(trace: Trace, cell: Cell) -> list[int]:
    """Other keys that the query may see, the nearest in weight first."""
    row = trace.attention(cell.layer, cell.head)[cell.query]
    apart = np.abs(row - row[cell.key])
    return [int(key) for key in np.argsort(apart, kind="stable") if key != cell.key and row[key]]


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
