"""The direct effect of heads: what they write to the end themselves, by no later head or layer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

import numpy as np

from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import UNCHANGED, Intervention, Replacement
from core.model.interventions.heads import Replace, head_table, replacements
from core.model.interventions.measures import Measurement, Outcome, measures_of
from core.model.interventions.probe import Probe, probe_of, run
from core.model.interventions.reference import Doubles
from core.model.language import display_names, first_words
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.probe import Source
    from core.model.interventions.stream import LinearReplay
    from core.model.running.loaded import LoadedModel

SUMS: tuple[Outcome, ...] = ("logit_difference", "class", "sentence")
_followed: WeakSet[LoadedModel] = WeakSet()  # models whose parts add up
TOLERANCE = 1e-3  # of the value, or of 1: how far the sum of all parts may be from it


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectParts(Measurement):
    """What is read at a model's end, as a sum of what each of its parts writes.

    Attributes
    ----------
    heads : (layer, head), NaN where a layer has no such head.
    layers : (layer,), what is written between a layer's heads and the next layer's: by its MLP.
    embeddings, biases : of all tokens; of norms, of W_O and of the head for words.
    value : the sum of all these: the lead of the first word over the second, the logit of the
        class, or the length of the vector of the sentence or of CLS.
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


class WrittenWords(NamedTuple):
    """Words that a head makes likelier, and less likely, those it moves most first.

    `passed_over` are entries that it moves more than some of these, and that are no text: control
    characters, parts of a character, rows that the tokenizer does not use.
    """

    likelier: tuple[WrittenWord, ...]
    less_likely: tuple[WrittenWord, ...]
    passed_over: int


@refusing_to("run")
def direct_parts(
    model: LoadedModel,
    text: Source,
    measure: Outcome | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> DirectParts:
    """What is read at the end, in parts by who wrote it.

    `measure` is one of :data:`SUMS`; without it the model's first. The others are as for
    :func:`core.model.effects`.

    Raises
    ------
    UnsupportedModelError
        Where the parts do not add up to the value within :data:`TOLERANCE`: something between
        them is not followed here.
    """
    offered = (each for each in measures_of(model) if each in SUMS)
    chosen = next(offered) if measure is None else measure
    if chosen not in SUMS:
        raise UnsupportedModelError(
            f"{{name}} cannot be taken apart by {chosen!r}.",
            f"Measure it by {' or '.join(map(repr, SUMS))}.",
        )
    return parts_of(probe_of(model, text, chosen, pair=pair, max_tokens=max_tokens))


def parts_of(probe: Probe) -> DirectParts:
    """The parts, which add up to the value; parameters and errors as of :func:`direct_parts`."""
    import torch

    stream = _replay(probe)
    with torch.inference_mode(mode=False):
        read = run(probe, follower=stream, grad=True)
        before = read.detach()
        if probe.value is not None:
            value = probe.value(before, read).sum()
        else:
            value = (read @ (before / before.norm()).T).sum()
        shares = list(_shares(value, stream))
    widest = max(share.size for kind, _, share in shares if kind == "head")
    heads = np.full((probe.model.layers, widest), np.nan)
    sums = {kind: np.zeros(len(heads)) for kind in ("layer", "embeddings", "bias")}
    for kind, layer, share in shares:
        if kind == "head":
            heads[layer, : len(share)] = share
        else:
            sums[kind][max(layer, 0)] += share
    parts = DirectParts(
        heads=heads,
        layers=sums["layer"],
        embeddings=sums["embeddings"].sum(),
        biases=sums["bias"].sum(),
        value=float(value.detach()),
        **(probe.of(before) | ({"unit": "length"} if probe.is_vector else {})),
    )
    total = np.nansum(heads) + sum(each.sum() for each in sums.values())
    if not abs(total - parts.value) <= TOLERANCE * max(1, abs(parts.value)):
        raise _unfollowed()
    return parts


def _replay(probe: Probe) -> LinearReplay:
    from core.model.interventions.stream import LinearReplay

    run(probe)  # what a network changes in itself, as BigBird does, it must change before the copy
    return LinearReplay(probe.network, probe.model.network)


def _shares(value: torch.Tensor, stream: LinearReplay) -> Iterator[tuple[str, int, Doubles]]:
    """Of each leaf its kind, its layer, and gradient by value, summed but for heads.

    Those that the stream begins with are one, the "embeddings".
    """
    import torch

    from core.model.interventions.stream import Leaf

    leaves, start = stream.leaves, stream.start
    tensors = [leaf.values for leaf in leaves]
    early = torch.autograd.grad(
        start, tensors, torch.ones_like(start), allow_unused=True, retain_graph=True
    )
    gradients = torch.autograd.grad(value, [*tensors, start], allow_unused=True)
    ends = [*leaves, Leaf("embeddings", -1, start)]
    for leaf, gradient, before in zip(ends, gradients, (*early, None), strict=True):
        if before is None:  # else it is part of the embeddings
            slope = torch.zeros_like(leaf.values) if gradient is None else gradient
            share = (slope.double() * leaf.values.double()).detach()
            axes = (0, 1, 3) if leaf.kind == "head" else tuple(range(share.dim()))
            yield leaf.kind, leaf.layer, share.sum(axes).cpu().numpy()


def _unfollowed() -> UnsupportedModelError:
    return UnsupportedModelError(
        "What the parts of {name} write does not add up to what is read at its end, so it cannot "
        "be said what a head writes.",
        "Something between them is not followed here: use another model.",
    )


def followed_probe(
    model: LoadedModel,
    text: Source,
    measure: Outcome | None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> Probe:
    """How an input is measured, of a model whose parts add up.

    That is checked once a model, on the first input. Raises `UnsupportedModelError` as
    :func:`direct_parts`.
    """
    if model not in _followed:
        direct_parts(model, text, pair=pair, max_tokens=max_tokens)
        _followed.add(model)
    return probe_of(model, text, measure, pair=pair, max_tokens=max_tokens)


def _repeatable(probe: Probe) -> LinearReplay:
    """A recorded pass that is the same again, for several copies together."""
    stream = _replay(probe)
    before = run(probe, follower=stream)
    again = run(probe, UNCHANGED, min(2, probe.copies), stream)
    if not bool(((again - before).abs() <= TOLERANCE * before.abs().max()).all()):
        raise _unfollowed()
    return stream


@refusing_to("run")
def direct_effects(
    model: LoadedModel,
    text: Source,
    replace: Replace = "mean",
    measure: Outcome | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
    heads: Collection[tuple[int, int]] | None = None,
) -> Doubles:
    """What :func:`core.model.effects` gives as `values`, if nothing after a head noticed.

    (layer, head). All later heads and layers give what they gave, and norms keep their scale: the
    difference to `effects` is what they make of the change. Parameters are as there.
    """
    probe = followed_probe(model, text, measure, pair=pair, max_tokens=max_tokens)
    given = replacements(probe, text, replace)
    table: Doubles = head_table(probe, given, _repeatable(probe), heads=heads)[1][0]
    return table


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
    probe = followed_probe(model, text, "logit_difference", pair=pair, max_tokens=max_tokens)
    stream = _repeatable(probe)
    absent = Intervention([Replacement(layer, head, 0.0)])
    (part,) = run(probe, follower=stream) - run(probe, absent, follower=stream)
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
