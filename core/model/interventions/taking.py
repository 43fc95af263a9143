"""Take something away, and keep both passes: heads, edges of the attention, or a word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import (
    SEED,
    Doubles,
    Replace,
    as_input,
    replacements,
    rotations_of,
    run_changed,
)
from core.model.interventions.measures import Measure, Measured, measured, measures_of, words_of
from core.model.interventions.reference import head_outputs, outputs_of
from core.model.interventions.rewriting import aligned_tokens, pieces_of, rewritten
from core.model.language import display_names
from core.model.refusal import refusing_to
from core.model.running.tracing import trace_inputs
from core.model.trace import Trace

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.facts import Size
    from core.model.image.pixels import Pixels
    from core.model.interventions.reference import Outputs, Source
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

DRAWS = 4  # controls, at most: of an edge, the keys whose weights are nearest
TOP = 5  # words or classes: the likeliest before, and the likeliest after
_OF_WORDS = {"kl", "logit_difference"}  # measures that read the logits of all words


class Cell(NamedTuple):
    """A query that must not attend to a key, from 0; in all layers or heads where that is None."""

    query: int
    key: int
    layer: int | None = None
    head: int | None = None


class Expected(NamedTuple):
    """A word or a class, and its probability before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Taken:
    """A text or an image before and after something was taken away.

    Attributes
    ----------
    before, after : the traces; the second is the model's own under the intervention.
    aligned : of tokens that are the same in both, their positions before and after.
    change : of what is measured, as the values of :class:`core.model.interventions.heads.Effects`.
    control : the largest of the :attr:`draws` by size; NaN without any.
    draws : (draw,), the change when as much is taken away elsewhere: of heads, in random
        directions, one rotation for all; of an edge, of the keys of the same row whose weights are
        nearest; of a word, of other words.
    measure, unit, words, position, is_masked : as in ``Effects``, of the text before.
    expected : what is likeliest before or after, the likeliest before first; empty where the model
        names neither words nor classes.
    """

    before: Trace
    after: Trace
    aligned: tuple[tuple[int, int], ...]
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
    """What was read before, (1, number), and after the change and after each control."""

    way: Measured
    before: torch.Tensor
    after: list[torch.Tensor]

    @property
    def changes(self) -> list[float]:
        return [float(self.way.compare(self.before, each)[0]) for each in self.after]


@dataclass(frozen=True, eq=False)
class _Taking:
    """Two inputs, the second maybe with another word, and what is taken away of its attention."""

    model: LoadedModel
    item: Input
    other: Input
    source: Source  # of `other`
    aligned: tuple[tuple[int, int], ...]
    plain: Trace | None = None  # of `other`, nothing taken away; needed where edges are
    heads: Collection[tuple[int, int]] = ()
    cells: tuple[Cell, ...] = ()
    replace: Replace = "mean"
    reference: Sequence[str] | None = None
    seed: int = SEED

    def changed(self) -> Trace:
        """The trace of `other` without what is taken away."""
        (change,) = self._interventions(head_outputs(self.model, self.other), 0)
        (trace,) = trace_inputs(self.model, [self.other], change=change)
        return trace

    def read(self, measure: Measure | None, draws: int, position: int | None = None) -> _Read:
        """Both inputs as they are measured; a masked model at one word in both."""
        first, second = self._ways(measure, position)
        own = outputs_of(self.model, second.network, second.inputs(1), second.tokens)
        before = run_changed(self.model, first, Intervention())
        changes = self._interventions(own, draws)
        return _Read(first, before, [run_changed(self.model, second, each) for each in changes])

    def _ways(self, measure: Measure | None, position: int | None) -> tuple[Measured, Measured]:
        way = measured(self.model, self.item, measure, position=position)
        if way.position is None or self.model.task != "masked":
            return way, measured(self.model, self.other, measure)
        places = dict(self.aligned)
        if way.position not in places:
            words = [place for place in places if self.item.tokens[place].word >= 0]
            if not words:
                raise UnsupportedModelError(
                    "Without that word there is none to measure {name} at.", "Type a longer text."
                )
            way = measured(self.model, self.item, measure, position=words[-1])
        at = places[cast("int", way.position)]
        return way, measured(self.model, self.other, measure, position=at)

    def _interventions(self, own: Outputs, draws: int) -> Iterator[Intervention]:
        """The change, then its controls, for a pass in which the heads give `own`."""
        replaced = list(self._replaced(own, draws)) if self.heads else [{}] * (1 + draws)
        cells = list(self._others(draws)) if self.cells else [()] * (1 + draws)
        tokens = len(own[0])
        for outputs, forbidden in zip(replaced, cells, strict=False):
            masks = {}
            if self.plain is not None:
                shape = *self.plain.shape[:2], tokens
                masks = {
                    layer: own[0].new_tensor(mask).bool()
                    for layer, mask in _masks(forbidden, shape).items()
                }
            yield Intervention(outputs, masks)

    def _replaced(self, own: Outputs, draws: int) -> Iterator[dict[int, list[Replacement]]]:
        given = replacements(self.model, self.source, own, self.replace, self.reference)
        dims = {own[layer].shape[-1] for layer, _ in self.heads}
        turns = {dim: own[0].new_tensor(rotations_of(dim, draws, self.seed)) for dim in dims}
        for draw in range(1 + draws):
            replaced: dict[int, list[Replacement]] = {}
            for layer, head in self.heads:
                outputs = own[layer][:, head]  # (token, dim)
                step = given[layer][:, head] - outputs
                if draw:
                    step = step @ turns[outputs.shape[-1]][draw - 1]
                replaced.setdefault(layer, []).append(Replacement(0, head, outputs + step))
            yield replaced

    def _others(self, draws: int) -> Iterator[tuple[Cell, ...]]:
        """The cells, then as many with other keys, those with the nearest weights first."""
        yield self.cells
        trace = cast("Trace", self.plain)
        keys = [_nearest_keys(trace, cell)[:draws] for cell in self.cells]
        for places in zip(*keys, strict=False):
            yield tuple(
                cell._replace(key=key) for cell, key in zip(self.cells, places, strict=True)
            )


@refusing_to("run")
def taken_away(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    *,
    heads: Collection[tuple[int, int]] = (),
    cells: Sequence[Cell] = (),
    word: int | None = None,
    by: str | None = None,
    replace: Replace = "mean",
    measure: Measure | None = None,
    pair: str | None = None,
    size: Size | None = None,
    max_tokens: int | None = None,
    reference: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Taken:
    """Run a text or an image twice, the second time without what is named here.

    Parameters
    ----------
    heads : (layer, head), from 0, whose outputs before W_O are replaced, all at once.
    cells : forbidden before the softmax, so the other weights of a row grow in proportion (Geva et
        al. 2023, section 3). Positions in `text`; they move with its tokens.
    word : the position of a token; the whole word that it belongs to is written anew.
    by : what stands in place of the word; "" leaves it out, None hides each of its tokens behind
        the model's mask.
    replace, measure, pair, size, max_tokens, reference : as for :func:`core.model.effects`. A
        masked model is measured at the same word before and after, never at the one taken away.
    draws, seed : controls, at most so many.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be intervened on, or measured so; when a query would keep no key; or
        when a word is to be hidden and the model has no mask.
    """
    encode = partial(as_input, model, size=size, max_tokens=max_tokens)
    item = encode(text, pair)

    def taking(place: int | None) -> _Taking:
        source, other = text, item
        if place is not None:
            source, second = rewritten(model, item, (cast("str", text), pair), place, by)
            other = encode(source, second)
        return _Taking(model, item, other, source, aligned_tokens(item, other, place), seed=seed)

    chosen = _with_attention(taking(word), heads, cells, replace, reference)
    (before,) = trace_inputs(chosen.model, [item])
    read = chosen.read(measure, 0 if word is not None else draws)
    changes = read.changes
    if word is not None:
        for place in _other_words(item, word, read.way.position, draws, seed):
            changes += taking(place).read(measure, 0, read.way.position).changes
    return Taken(
        before,
        chosen.changed(),
        chosen.aligned,
        changes[0],
        max(map(abs, changes[1:]), default=float("nan")),
        np.array(changes[1:]),
        read.way.measure,
        read.way.unit,
        words_of(model, read.before, read.way),
        read.way.position,
        read.way.is_masked,
        _expected(chosen, read),
    )


def _with_attention(
    taking: _Taking,
    heads: Collection[tuple[int, int]],
    cells: Sequence[Cell],
    by: Replace,
    reference: Sequence[str] | None,
) -> _Taking:
    """With heads and cells as well, once it is known that each row keeps a key."""
    model, plain, own = taking.model, None, []
    if cells:
        # The fast function takes no mask of its own making, and rounds otherwise than the exact.
        model = replace(model, way="exact") if model.way == "fast" else model
        (plain,) = trace_inputs(model, [taking.other])
        places = dict(taking.aligned)
        own = [
            cell._replace(query=places[cell.query], key=places[cell.key])
            for cell in cells
            if {cell.query, cell.key} <= set(places)
        ]
        _check_rows(plain, own)
    return replace(
        taking,
        model=model,
        plain=plain,
        heads=heads,
        cells=tuple(own),
        replace=by,
        reference=reference,
    )


def _masks(cells: Sequence[Cell], shape: tuple[int, int, int]) -> dict[int, NDArray[np.bool_]]:
    """By layer, True in the cells, (head, query, key); `shape` is (layers, heads, tokens)."""
    layers, heads, tokens = shape
    masks: dict[int, NDArray[np.bool_]] = {}
    for cell in cells:
        if max(cell.query, cell.key) >= tokens:  # cut for the measure: it has no part in it
            continue
        for layer in range(layers) if cell.layer is None else (cell.layer,):
            mask = masks.setdefault(layer, np.zeros((heads, tokens, tokens), dtype=np.bool_))
            mask[slice(None) if cell.head is None else cell.head, cell.query, cell.key] = True
    return masks


def _check_rows(trace: Trace, cells: Sequence[Cell]) -> None:
    """Refuse to take away all that a query may attend to."""
    for layer, mask in _masks(cells, trace.shape[:3]).items():
        permitted = np.isfinite(trace.scores(layer))
        emptied = permitted.any(axis=-1) & ~(permitted & ~mask).any(axis=-1)
        if emptied.any():
            raise UnsupportedModelError(
                "A query would be left without any key to attend to.", "Take away another edge."
            )


def _nearest_keys(trace: Trace, cell: Cell) -> list[int]:
    """Other keys that the query may see, the nearest in weight first; of the mean of the heads."""
    layers = range(trace.shape[0]) if cell.layer is None else (cell.layer,)
    rows = [trace.attention(layer, cell.head)[..., cell.query, :] for layer in layers]
    row = np.mean([each.reshape(-1, each.shape[-1]).mean(axis=0) for each in rows], axis=0)
    apart = np.abs(row - row[cell.key])
    return [int(key) for key in np.argsort(apart, kind="stable") if key != cell.key and row[key]]


def _other_words(item: Input, word: int, position: int | None, draws: int, seed: int) -> list[int]:
    """First tokens of some other words, drawn by chance; never the one that is measured."""
    taken = {item.tokens[each].word for each in (word, position) if each is not None}
    first: dict[int, int] = {}
    for token in item.tokens:
        if token.word >= 0 and token.word not in taken and any(map(str.isalnum, token.display)):
            first.setdefault(token.word, pieces_of(item.tokens, token.position)[0])
    places = list(first.values())
    generator = np.random.default_rng(seed)
    return [int(each) for each in generator.permutation(places)[:draws]]


def _expected(taking: _Taking, read: _Read) -> tuple[Expected, ...]:
    """What is likeliest before and after, of words or classes; empty where there are none."""
    model = taking.model
    if "kl" in measures_of(model):
        read = read if read.way.measure in _OF_WORDS else taking.read("kl", 0)
    elif model.classifier is None:
        return ()
    elif read.way.measure != "class":
        read = taking.read("class", 0)
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
