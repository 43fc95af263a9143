"""Ablate heads or edges of the attention, and keep both passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import (
    Doubles,
    Replace,
    as_input,
    replacements,
    rows_of,
    run_changed,
)
from core.model.interventions.measures import Measure, Measured, measured, measures_of, words_of
from core.model.interventions.reference import head_outputs, outputs_of
from core.model.language import display_names
from core.model.refusal import refusing_to
from core.model.running.tracing import trace_inputs
from core.model.trace import Trace

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.interventions.reference import Outputs, Source
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

DRAWS = 4  # controls, at most: of an edge, the keys whose weights are nearest
TOP = 5  # words or classes: the likeliest before, and the likeliest after
_OF_WORDS = {"kl", "logit_difference"}  # measures that read the logits of all words


class Cell(NamedTuple):
    """A query of a head that must not attend to a key, all from 0."""

    query: int
    key: int
    layer: int
    head: int


class Expected(NamedTuple):
    """A word or a class, and its probability before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class AblationResult:
    """A text or an image before and after an ablation.

    Attributes
    ----------
    before, after : the traces; the second is the model's own under the intervention.
    change : of what is measured, as the values of :class:`core.model.interventions.heads.Effects`.
    control : the largest of the :attr:`draws` by size; NaN without any.
    draws : (draw,), the change when as much is ablated elsewhere: of heads, in random directions,
        one rotation for all; of an edge, of the keys of the same row whose weights are nearest.
    measure, unit, words, position, is_masked : as in ``Effects``.
    expected : what is likeliest before or after, the likeliest before first; empty where the model
        names neither words nor classes.
    """

    before: Trace
    after: Trace
    change: float
    control: float
    draws: Doubles
    measure: Measure
    unit: str
    words: tuple[str, ...]
    position: int | None
    is_masked: bool
    expected: tuple[Expected, ...]


class _Read(NamedTuple):
    """What was read before, (1, number), and after the ablation and after each control."""

    way: Measured
    before: torch.Tensor
    after: list[torch.Tensor]


@dataclass(frozen=True, eq=False)
class _Ablation:
    """An input, its trace, and what is ablated of its attention."""

    model: LoadedModel
    source: Source
    item: Input
    before: Trace
    heads: Collection[tuple[int, int]]
    cells: Sequence[Cell]
    replace: Replace

    def read(self, measure: Measure | None, draws: int) -> _Read:
        way = measured(self.model, self.item, measure)
        own = outputs_of(self.model, way.network, way.inputs(1), way.tokens)
        before = run_changed(self.model, way, Intervention())
        changes = self.interventions(own, draws)
        return _Read(way, before, [run_changed(self.model, way, each) for each in changes])

    def interventions(self, own: Outputs, draws: int) -> Iterator[Intervention]:
        """The ablation, then its controls, for a pass in which the heads give `own`."""
        replaced = self._replaced(own, draws) if self.heads else repeat({})
        masks = self._forbidden(own) if self.cells else repeat({})
        return islice(map(Intervention, replaced, masks), 1 + draws)

    def _replaced(self, own: Outputs, draws: int) -> list[dict[int, list[Replacement]]]:
        given = replacements(self.model, self.source, own, self.replace, None)
        replaced: list[dict[int, list[Replacement]]] = [{} for _ in range(1 + draws)]
        for row in rows_of(own, given, self.heads, draws):
            change = Replacement(0, row.head, row.values)
            replaced[row.place[0]].setdefault(row.layer, []).append(change)
        return replaced

    def _forbidden(self, own: Outputs) -> Iterator[dict[int, torch.Tensor]]:
        """Masks of the cells, then of as many with other keys, the nearest weights first."""
        keys = [[cell.key, *_nearest_keys(self.before, cell)] for cell in self.cells]
        for places in zip(*keys, strict=False):
            cells = [c._replace(key=key) for c, key in zip(self.cells, places, strict=True)]
            masks = _masks(cells, (self.before.shape[1], len(own[0])))
            yield {layer: own[0].new_tensor(mask).bool() for layer, mask in masks.items()}


@refusing_to("run")
def ablate(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    *,
    heads: Collection[tuple[int, int]] = (),
    cells: Sequence[Cell] = (),
    replace: Replace = "mean",
    measure: Measure | None = None,
    pair: str | None = None,
    max_tokens: int | None = None,
    draws: int = DRAWS,
) -> AblationResult:
    """Run a text or an image twice, the second time without what is named here.

    Parameters
    ----------
    heads : (layer, head), from 0, whose outputs before W_O are replaced, all at once.
    cells : forbidden before the softmax, so the other weights of a row grow in proportion (Geva et
        al. 2023, section 3).
    replace, measure, pair, max_tokens : as for :func:`core.model.effects`.
    draws : controls, at most so many.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be intervened on, or measured so; or when a query would keep no key.
    """
    if cells and model.way == "fast":
        # The fast function takes no mask of its own making, and rounds otherwise than the exact.
        model = dataclasses.replace(model, way="exact")
    item = as_input(model, text, pair, max_tokens)
    (before,) = trace_inputs(model, [item])
    _check_rows(before, cells)
    ablation = _Ablation(model, text, item, before, heads, cells, replace)
    (change,) = ablation.interventions(head_outputs(model, item), 0)
    (after,) = trace_inputs(model, [item], change=change)
    read = ablation.read(measure, draws)
    changes = [float(read.way.compare(read.before, each)[0]) for each in read.after]
    return AblationResult(
        before,
        after,
        changes[0],
        max(map(abs, changes[1:]), default=float("nan")),
        np.array(changes[1:]),
        read.way.measure,
        read.way.unit,
        words_of(model, read.before, read.way),
        read.way.position,
        read.way.is_masked,
        _expected(ablation, read),
    )


def _masks(cells: Sequence[Cell], shape: tuple[int, int]) -> dict[int, NDArray[np.bool_]]:
    """By layer, True in the cells, (head, query, key); `shape` is (heads, tokens)."""
    heads, tokens = shape
    masks: dict[int, NDArray[np.bool_]] = {}
    for cell in cells:
        if max(cell.query, cell.key) >= tokens:  # cut for the measure: it has no part in it
            continue
        mask = masks.setdefault(cell.layer, np.zeros((heads, tokens, tokens), dtype=np.bool_))
        mask[cell.head, cell.query, cell.key] = True
    return masks


def _check_rows(trace: Trace, cells: Sequence[Cell]) -> None:
    """Refuse to forbid all that a query may attend to."""
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


def _expected(ablation: _Ablation, read: _Read) -> tuple[Expected, ...]:
    """What is likeliest before and after, of words or classes; empty where there are none."""
    model = ablation.model
    if "kl" in measures_of(model):
        read = read if read.way.measure in _OF_WORDS else ablation.read("kl", 0)
    elif model.classifier is None:
        return ()
    elif read.way.measure != "class":
        read = ablation.read("class", 0)
    before, after = (each[0].softmax(-1) for each in (read.before, read.after[0]))
    count = min(TOP, len(before))
    ids = [*before.topk(count).indices.tolist(), *after.topk(count).indices.tolist()]
    ranked = sorted(dict.fromkeys(ids), key=lambda each: -float(before[each]))
    return tuple(
        Expected(name, float(before[each]), float(after[each]))
        for each, name in zip(ranked, _names(model, ranked), strict=True)
    )


def _names(model: LoadedModel, ids: list[int]) -> list[str]:
    """What classes, or words of the vocabulary, are called."""
    if model.labels:
        return [model.labels[each] for each in ids]
    return display_names(model.tokenizer, ids)
