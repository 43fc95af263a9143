"""The direct effect of heads: what they write to the end themselves, by no later head or layer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import Intervention, Replacement, run
from core.model.interventions.heads import (
    Doubles,
    Replace,
    as_input,
    changes_of,
    copies_of,
    replacements,
    rows_of,
)
from core.model.interventions.measures import Measure, Measured, measured, measures_of, words_of
from core.model.language import display_names, first_words
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.interventions.stream import Leaf, LinearReplay
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

SUMS: tuple[Measure, ...] = ("logit_difference", "class", "sentence")
_followed: WeakSet[LoadedModel] = WeakSet()  # models whose parts add up
TOLERANCE = 1e-3  # of the value, or of 1: how far the sum of all parts may be from it


@dataclass(frozen=True, eq=False)
class DirectParts:
    """What is read at a model's end, as a sum of what each of its parts writes.

    Attributes
    ----------
    heads : (layer, head), NaN where a layer has no such head.
    layers : (layer,), what is written between a layer's heads and the next layer's: by its MLP.
    embeddings, biases : of all tokens; of norms, of W_O and of the head for words.
    value : what is read: the sum of all these.
    measure, unit, words, position, is_masked : as for :class:`core.model.Effects`; the value is the
        lead of the first word over the second, the logit of the class, or the length of the vector
        of the sentence or of CLS.
    """

    heads: Doubles
    layers: Doubles
    embeddings: float
    biases: float
    value: float
    measure: Measure
    unit: str
    words: tuple[str, ...]
    position: int | None
    is_masked: bool


class WrittenWord(NamedTuple):
    """A word as people read it, its entry in the vocabulary, and what is added to its logit."""

    display: str
    id: int
    logit: float


class WrittenWords(NamedTuple):
    """Words that a head makes likelier, and less likely, those it moves most first.

    `passed_over` are entries that it moves more than some of these, and that are no text: control
    characters, parts of a character, rows that the tokenizer does not use.
    """

    likelier: tuple[WrittenWord, ...]
    less_likely: tuple[WrittenWord, ...]
    passed_over: int


@dataclass(frozen=True, eq=False)
class _Taken:
    """A model's pass on one input, taken apart."""

    model: LoadedModel
    way: Measured
    stream: LinearReplay
    before: torch.Tensor  # what was read
    start: torch.Tensor  # the residual stream before the first layer

    def again(self, intervention: Intervention, copies: int = 1) -> torch.Tensor:
        """What is read, (copy, number), when only the direct effects of a change count."""
        import torch

        with torch.inference_mode():
            return _pass(self.model, self.way, self.stream, intervention, copies)[0]


def summed_measure(model: LoadedModel) -> Measure:
    """The measure that is a sum of direct effects."""
    return next(each for each in measures_of(model) if each in SUMS)


@refusing_to("run")
def direct_parts(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    measure: Measure | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> DirectParts:
    """What is read at the end, in parts by who wrote it.

    `measure` is one of :data:`SUMS`; without it the model's :func:`summed_measure`. The others
    are as for :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        Where the parts do not add up to the value within :data:`TOLERANCE`: something between
        them is not followed here.
    """
    chosen = summed_measure(model) if measure is None else measure
    if chosen not in SUMS:
        raise UnsupportedModelError(
            f"{{name}} cannot be taken apart by {chosen!r}.",
            f"Measure it by {' or '.join(map(repr, SUMS))}.",
        )
    item = as_input(model, text, pair, max_tokens)
    return _summed(model, measured(model, item, chosen))


def check_followed(model: LoadedModel, item: Input) -> None:
    """Refuse a model whose parts do not add up; once a model, on the first input asked for.

    Raises
    ------
    UnsupportedModelError
        As :func:`direct_parts`.
    """
    if model not in _followed:
        _summed(model, measured(model, item, summed_measure(model)))
        _followed.add(model)


def _summed(model: LoadedModel, way: Measured) -> DirectParts:
    """The parts, which add up to the value."""
    import torch

    with torch.inference_mode(mode=False), torch.enable_grad():
        taken = _taken(model, way)
        value = _value(way, taken.before)
        shares = _shares(value, taken)
    parts = _parts(model, way, taken, float(value.detach()), shares)
    _check(parts)
    return parts


def _value(way: Measured, read: torch.Tensor) -> torch.Tensor:
    """The number that is linear in what is read, (1, number)."""
    before = read.detach()
    if way.value is not None:
        return way.value(before, read).sum()
    return (read @ (before / before.norm()).T).sum()


def _shares(value: torch.Tensor, taken: _Taken) -> tuple[list[tuple[Leaf, Doubles]], float]:
    """Gradient by value of each leaf, summed but for heads, and the same of the embeddings."""
    import torch

    leaves = taken.stream.leaves
    tensors = [leaf.values for leaf in leaves]
    start = taken.start
    early = torch.autograd.grad(
        start, tensors, torch.ones_like(start), allow_unused=True, retain_graph=True
    )
    *gradients, first = torch.autograd.grad(value, [*tensors, start], allow_unused=True)
    found = []
    for leaf, gradient, before in zip(leaves, gradients, early, strict=True):
        if gradient is not None and before is None:  # else it is part of the embeddings
            share = (gradient.double() * leaf.values.double()).detach()
            axes = (0, 1, 3) if leaf.kind == "head" else tuple(range(share.dim()))
            found.append((leaf, share.sum(axes).cpu().numpy()))
    embeddings = 0.0 if first is None else float((first.double() * start.detach().double()).sum())
    return found, embeddings


def _parts(
    model: LoadedModel,
    way: Measured,
    taken: _Taken,
    value: float,
    shares: tuple[list[tuple[Leaf, Doubles]], float],
) -> DirectParts:
    outputs = taken.stream.outputs
    heads = np.full((len(outputs), max(layer.shape[1] for layer in outputs)), np.nan)
    for layer, output in enumerate(outputs):
        heads[layer, : output.shape[1]] = 0
    layers, biases = np.zeros(len(outputs)), 0.0
    for leaf, share in shares[0]:
        if leaf.kind == "head":
            heads[leaf.layer, : len(share)] = share
        elif leaf.kind == "layer":
            layers[max(leaf.layer, 0)] += share
        else:
            biases += float(share)
    return DirectParts(
        heads=heads,
        layers=layers,
        embeddings=shares[1],
        biases=biases,
        value=value,
        measure=way.measure,
        unit="length" if way.is_vector else way.unit,
        words=words_of(model, taken.before.detach(), way),
        position=way.position,
        is_masked=way.is_masked,
    )


def _check(parts: DirectParts) -> None:
    total = np.nansum(parts.heads) + parts.layers.sum() + parts.embeddings + parts.biases
    if not abs(total - parts.value) <= TOLERANCE * max(1, abs(parts.value)):
        raise _unfollowed()


def _unfollowed() -> UnsupportedModelError:
    return UnsupportedModelError(
        "What the parts of {name} write does not add up to what is read at its end, so it cannot "
        "be said what a head writes.",
        "Something between them is not followed here: use another model.",
    )


@refusing_to("run")
def direct_effects(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
    heads: Collection[tuple[int, int]] | None = None,
) -> Doubles:
    """What :func:`core.model.effects` gives as `values`, if nothing after a head noticed.

    (layer, head). All later heads and layers give what they gave, and norms keep their scale: the
    difference to `effects` is what they make of the change. Parameters are as there.
    """
    item = as_input(model, text, pair, max_tokens)
    check_followed(model, item)
    way = measured(model, item, measure)
    taken = _repeatable(model, way)
    own = tuple(taken.stream.outputs)
    rows = list(rows_of(own, replacements(model, text, own, replace, None), heads))
    found = np.full((len(own), max(layer.shape[1] for layer in own)), np.nan)
    before = taken.again(Intervention())
    changes = chain.from_iterable(changes_of(way, before, rows, taken.again, copies_of(model, way)))
    for row, change in zip(rows, changes, strict=True):
        found[row.layer, row.head] = change
    return found


@refusing_to("run")
def written_words(
    model: LoadedModel,
    text: str,
    layer: int,
    head: int,
    count: int = 5,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> WrittenWords | None:
    """The words that a head, from 0, makes likelier and less likely by what it writes itself.

    The `count` with the largest and the smallest of its parts of the logits, at the token whose
    word is measured, above the mean of all words; entries that are no text are passed over. None
    for a model without a head for words.
    """
    if "logit_difference" not in measures_of(model):
        return None
    item = as_input(model, text, pair, max_tokens)
    check_followed(model, item)
    way = measured(model, item, "logit_difference")
    taken = _repeatable(model, way)
    absent = Intervention({layer: [Replacement(0, head, 0.0)]})
    (part,) = taken.again(Intervention()) - taken.again(absent)
    part = part - part.mean()
    (up, passed), (down, also_passed) = (_most_moved(model, part, count, s) for s in (1, -1))
    return WrittenWords(up, down, passed + also_passed)


def _most_moved(
    model: LoadedModel, part: torch.Tensor, count: int, sign: int
) -> tuple[tuple[WrittenWord, ...], int]:
    """The words with the largest `part` times `sign`, and how many entries were passed over."""
    order = (sign * part).argsort(descending=True).tolist()
    words, passed_over = first_words(model.tokenizer, order, count)
    names = display_names(model.tokenizer, words)
    return tuple(map(WrittenWord, names, words, part[words].tolist())), passed_over


def _repeatable(model: LoadedModel, way: Measured) -> _Taken:
    """A pass that is the same again, for several copies together."""
    import torch

    with torch.no_grad():
        taken = _taken(model, way)
    own = taken.before
    again = taken.again(Intervention(), min(2, copies_of(model, way)))
    if not bool(((again - own).abs() <= TOLERANCE * own.abs().max()).all()):
        raise _unfollowed()
    return taken


def _taken(model: LoadedModel, way: Measured) -> _Taken:
    from core.model.interventions.stream import LinearReplay

    stream = LinearReplay()
    read, start = _pass(model, way, stream, None, 1)
    return _Taken(model, way, stream, read, start)


def _pass(
    model: LoadedModel,
    way: Measured,
    stream: LinearReplay,
    intervention: Intervention | None,
    copies: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What is read after a pass of the linear network, and what went into its first layer."""
    stream.rewind(intervention)
    network = stream.follow(way.network, model.network)
    output = run(model, way, stream, copies, network, output_hidden_states=True)
    return way.read(output), output.hidden_states[0]
