"""The direct effect of heads: what reaches the output without passing through later layers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Unpack
from weakref import WeakSet

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import Replace, head_table, replacement_rows, replacements
from core.model.interventions.measures import Measurement, Outcome, measures_of
from core.model.interventions.probe import Cut, Probe, probe_of, run
from core.model.interventions.reference import Doubles
from core.model.language import display_names, first_words
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.probe import Source
    from core.model.interventions.stream import Stream
    from core.model.running.loaded import LoadedModel

SUMS: tuple[Outcome, ...] = ("logit_difference", "class", "sentence")
_followed: WeakSet[LoadedModel] = WeakSet()  # models whose parts add up
TOLERANCE = 1e-3  # how far the sum of parts may be off, relative to the value or to 1


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectParts(Measurement):
    """What is read at a model's end, split into what each of its parts writes.

    Attributes
    ----------
    heads : (layer, head).
    layers : (layer,), what is written between a layer's heads and the next layer's: by its MLP.
    embeddings, biases : of all tokens; of the norms, W_O and the language-model head.
    value : the sum of all these: the logit difference of the two words, the logit of the class, or
        the norm of the sentence vector or of the CLS vector.
    """

    heads: Doubles
    layers: Doubles
    embeddings: float
    biases: float
    value: float


class WrittenWord(NamedTuple):
    """A word as people read it, its entry in the vocabulary, and what is added to its logit."""

    display: str
    id: int
    logit: float


@refusing_to("run")
def direct_parts(
    model: LoadedModel, text: Source, measure: Outcome | None = None, **cut: Unpack[Cut]
) -> DirectParts:
    """Split what is read at the end into what each part of the model writes.

    `measure` is one of :data:`SUMS`, by default the model's first. The other parameters are as for
    :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        Where the parts do not add up to the value within :data:`TOLERANCE`: something between
        them is not followed here.
    """
    chosen = measure or next(each for each in measures_of(model) if each in SUMS)
    if chosen not in SUMS:
        raise UnsupportedModelError(
            f"{{name}} cannot be taken apart by {chosen!r}.",
            f"Measure it by {' or '.join(map(repr, SUMS))}.",
        )
    return parts_of(probe_of(model, text, chosen, **cut))


def parts_of(probe: Probe) -> DirectParts:
    """The parts, which add up to the value; errors as for :func:`direct_parts`.

    Each is gradient times what is written; embeddings are what is read where nothing else writes.
    """
    import torch

    from core.model.interventions.stream import Stream

    before = run(probe)  # what a network changes in itself, as BigBird does, it must do before
    stream = Stream(probe.network)
    value_of = probe.value or (lambda before, read: read @ (before[0] / before.norm()))
    with torch.inference_mode(mode=False):
        value = value_of(before, run(probe, stream=stream, grad=True)).sum()
        slopes = torch.autograd.grad(value, [each[2] for each in stream.leaves], allow_unused=True)
    heads = np.full((probe.model.layers, probe.model.heads), np.nan)
    sums = {"layer": np.zeros(len(heads)), "bias": np.zeros(len(heads))}
    for (kind, layer, written), slope in zip(stream.leaves, slopes, strict=True):
        if slope is None:  # as of keys, which end in heads; where heads end nowhere, NaN refuses it
            continue
        share = slope.double() * written.detach().double()
        if kind == "head":
            heads[layer] = share.sum((0, 1, 3)).cpu()
        elif layer >= 0 or kind == "layer":
            sums[kind][max(layer, 0)] += float(share.sum())
    stream.sounds = lambda kind, layer: kind != "layer" and layer < 0
    parts = DirectParts(
        heads=heads,
        layers=sums["layer"],
        embeddings=float(value_of(before, run(probe, stream=stream))[0]),
        biases=float(sums["bias"].sum()),
        value=float(value.detach()),
        **(probe.of(before) | ({} if probe.value else {"unit": "length"})),
    )
    total = heads.sum() + parts.layers.sum() + parts.embeddings + parts.biases
    _check(abs(total - parts.value), max(1, abs(parts.value)))
    return parts


def _recorded(probe: Probe) -> tuple[Stream, torch.Tensor]:
    """A recorded pass, which several copies together must repeat, and what is read of it."""
    from core.model.interventions.stream import Stream

    run(probe)  # as in `parts_of`
    stream = Stream(probe.network)
    before = run(probe, stream=stream)
    again = run(probe, copies=min(2, probe.copies), stream=stream)
    _check(float((again - before).abs().max()), float(before.abs().max()))
    return stream, before


def _check(apart: float, size: float) -> None:
    """Refuse a model where two numbers of that size are too far apart; NaN is, too."""
    if not apart <= TOLERANCE * size:
        raise UnsupportedModelError(
            "What the parts of {name} write does not add up to what is read at its end, so it "
            "cannot be said what a head writes.",
            "Something between them is not followed here: use another model.",
        )


def followed_probe(
    model: LoadedModel, text: Source, measure: Outcome | None, **cut: Unpack[Cut]
) -> Probe:
    """How an input is measured, for a model whose parts add up.

    This is checked once per model, on its first input. Raises `UnsupportedModelError` like
    :func:`direct_parts`.
    """
    probe = probe_of(model, text, measure, **cut)
    if model not in _followed:
        direct_parts(model, text, **cut)
        _followed.add(model)
    return probe


@refusing_to("run")
def direct_effects(
    model: LoadedModel,
    text: Source,
    replace: Replace = "mean",
    measure: Outcome | None = None,
    *,
    heads: Collection[tuple[int, int]] | None = None,
    **cut: Unpack[Cut],
) -> Doubles:
    """The `values` of :func:`core.model.effects` if nothing after a head reacted to the change.

    (layer, head). All later heads and layers keep their outputs, and norms keep their scale: the
    difference from `effects` is how they react. Parameters are as there.
    """
    probe = followed_probe(model, text, measure, **cut)
    rows = replacement_rows(*replacements(probe, text, replace), heads)
    table: Doubles = head_table(probe, rows, _recorded(probe)[0])[1][0]
    return table


@refusing_to("run")
def written_words(
    model: LoadedModel, text: str, layer: int, head: int, count: int = 5, **cut: Unpack[Cut]
) -> tuple[tuple[WrittenWord, ...], tuple[WrittenWord, ...]]:
    """The words that a head (from 0) makes likelier and less likely by what it writes directly.

    The `count` words to whose logits it adds most, then those to whose it adds least, at the token
    whose word is measured, relative to the mean of all words. Entries of the vocabulary that are
    not text are left out: control characters, parts of a character, rows without a token. Raises
    `UnsupportedModelError` for a model without a language-model head.
    """
    probe = followed_probe(model, text, "logit_difference", **cut)
    stream, before = _recorded(probe)
    (part,) = before - run(probe, Intervention([Replacement(layer, head, 0.0)]), stream=stream)
    part = part - part.mean()
    return _most_moved(model, part, count, 1), _most_moved(model, part, count, -1)


def _most_moved(
    model: LoadedModel, part: torch.Tensor, count: int, sign: int
) -> tuple[WrittenWord, ...]:
    """The words with the largest `part` times `sign`."""
    order = (sign * part).argsort(descending=True).tolist()
    words = first_words(model.tokenizer, order, count)
    names = display_names(model.tokenizer, words)
    return tuple(map(WrittenWord, names, words, part[words].tolist()))
