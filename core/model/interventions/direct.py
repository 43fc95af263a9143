"""The direct effect of heads: what reaches the output without passing through later layers."""

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
TOLERANCE = 1e-3  # how far the sum of parts may be off, relative to the value or to 1


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectParts(Measurement):
    """What is read at a model's end, split into what each of its parts writes.

    Attributes
    ----------
    heads : (layer, head), NaN where a layer has no such head.
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


class WrittenWords(NamedTuple):
    """Words that a head makes likelier, and less likely, the most affected first.

    `passed_over` counts entries that it moves more than some of these but that are not text:
    control characters, parts of a character, rows that the tokenizer does not use.
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
    """Split what is read at the end into what each part of the model writes.

    `measure` is one of :data:`SUMS`, by default the model's first. The other parameters are as for
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
    """The parts, which add up to the value; errors as for :func:`direct_parts`."""
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
    """Each leaf's kind, its layer, and gradient times value, summed over all axes but heads.

    What comes before the first layer counts as one leaf, the "embeddings".
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
    """How an input is measured, for a model whose parts add up.

    This is checked once per model, on its first input. Raises `UnsupportedModelError` like
    :func:`direct_parts`.
    """
    if model not in _followed:
        direct_parts(model, text, pair=pair, max_tokens=max_tokens)
        _followed.add(model)
    return probe_of(model, text, measure, pair=pair, max_tokens=max_tokens)


def _repeatable(probe: Probe) -> LinearReplay:
    """A recorded pass, checked to repeat itself for several copies together."""
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
    """The `values` of :func:`core.model.effects` if nothing after a head reacted to the change.

    (layer, head). All later heads and layers keep their outputs, and norms keep their scale: the
    difference from `effects` is how they react. Parameters are as there.
    """
    probe = followed_probe(model, text, measure, pair=pair, max_tokens=max_tokens)
    outputs = replacements(probe, text, replace)
    table: Doubles = head_table(probe, outputs, _repeatable(probe), heads=heads)[1][0]
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
    """The words that a head (from 0) makes likelier and less likely by what it writes directly.

    The `count` words to whose logits it adds most and least, at the token whose word is measured,
    relative to the mean of all words; entries that are not text are passed over. None for a model
    without a language-model head.
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
