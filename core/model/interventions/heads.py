"""The effect of every head: what changes when its output before W_O is replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model.interventions.changing import Intervention, Replacement, run
from core.model.interventions.measures import Measure, Measured, measured, words_of
from core.model.interventions.reference import (
    aligned_outputs,
    identity_of,
    mean_outputs,
    outputs_of,
    reference_samples,
)
from core.model.refusal import refusing_to
from core.model.running.images import image_input
from core.model.text.inputs import Input, encode

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from core.model.image.pixels import Pixels
    from core.model.interventions.prefix import SharedPrefix
    from core.model.interventions.reference import Outputs, Source
    from core.model.running.loaded import LoadedModel

    Read = Callable[[Intervention, int], torch.Tensor]  # what is read of so many copies

Replace = Literal["mean", "zero", "resample"]
Doubles = NDArray[np.float64]
DRAWS = 8  # random directions of every head; what is left out of eight is pooled over heads
SINGLE_DRAWS = 19  # of one head: by luck it changes more than in all of them once in 20
FRESH_DRAWS = 99  # of each head that is claimed to matter: 1 in 100 by luck
SEED, FRESH_SEED = 0, 1
COPIED_TOKENS = 512  # of the copies that run together
MAX_READ = 16_000_000  # float64 numbers of logits at once: 128 MB


@dataclass(frozen=True, eq=False)
class Effects:
    """What replacing each head changes.

    Attributes
    ----------
    values : (layer, head), NaN where a layer has no such head; positive where the model's own
        answer becomes less likely, or its vector moves.
    draws : (draw, layer, head): the change when the head's output moves as far as the replacement
        moves it, at every token, in a random direction: one rotation for all tokens.
    measure, unit, replace : what is measured, in what unit, after which replacement.
    words : the two words whose logits are compared, or the model's likeliest class.
    position : of the token whose word is measured, from 0; None for other measures.
    is_masked : whether that token was hidden for this.
    """

    values: Doubles
    draws: NDArray[np.float64]
    measure: Measure
    unit: str
    replace: Replace
    words: tuple[str, ...]
    position: int | None
    is_masked: bool

    @property
    def control(self) -> Doubles:
        """The largest of the :attr:`draws` by size, (layer, head); NaN without any."""
        return np.abs(self.draws).max(axis=0) if len(self.draws) else self.values * np.nan


class Row(NamedTuple):
    """A copy of the input in which one head gives something else."""

    place: tuple[int, ...]  # in the table of results
    layer: int
    head: int
    values: torch.Tensor


@refusing_to("run")
def effects(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    replace: Replace = "mean",
    measure: Measure | None = None,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
    words: tuple[str, str] | None = None,
    reference: Sequence[str] | None = None,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> Effects:
    """Replace each head in turn, on one text or image, and measure what changes.

    All heads run in batches of at most `COPIED_TOKENS` tokens, so memory does not grow with their
    number. Of an encoder-decoder, the encoder's heads.

    Parameters
    ----------
    replace : by "mean", its mean over all tokens of the reference; by "zero"; or by "resample",
        what it gives on the text of the reference nearest in length, at the aligned token.
    measure : one of ``measures_of(model)``; the first of them without it.
    pair : a second text, as for :func:`core.model.trace_text`.
    max_tokens : cut the text at this length if the model would take more.
    words : whose logits a "logit_difference" compares, each one token (after a blank, where the
        vocabulary has that): how far the first is ahead of the second. Without them, the model's
        two likeliest.
    reference : texts; without them 48 of the sample corpus (or the sample images), whose outputs
        are kept with the model.
    heads : (layer, head), from 0; all without them, and those left out are NaN.
    draws, seed : random directions for each head's control.
    progress : called after every batch with how many of how many passes are done.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured so.
    WrongInputError
        When `words` do not belong to the measure, or one of them is not one token.
    """
    from core.model.interventions.prefix import SharedPrefix

    item = as_input(model, text, pair, max_tokens)
    way = measured(model, item, measure, words)
    own = outputs_of(model, way.network, way.inputs(1), way.tokens)
    values = np.full((1 + draws, len(own), max(layer.shape[1] for layer in own)), np.nan)
    given = replacements(model, text, own, replace, reference)
    rows = list(rows_of(own, given, heads, draws, seed))
    read = partial(run_changed, model, way, prefix=SharedPrefix())
    before, done = read(Intervention()), 0
    for changes in changes_of(way, before, rows, read, copies_of(model, way)):
        for change in changes:
            values[rows[done].place] = change
            done += 1
        if progress is not None:
            progress(done, len(rows))
    return Effects(
        values[0],
        values[1:],
        way.measure,
        way.unit,
        replace,
        words_of(model, before, way),
        way.position,
        way.is_masked,
    )


def as_input(
    model: LoadedModel,
    text: str | Image.Image | Pixels,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> Input:
    """A text or an image as the model gets it."""
    if isinstance(text, str):
        return encode(model, text, pair, max_tokens)
    return image_input(model, text)


def replacements(
    model: LoadedModel, source: Source, own: Outputs, replace: Replace, texts: Sequence[str] | None
) -> Outputs:
    """What every head gives instead, (token or 1, head, dim) of each layer.

    `source` is the text or the image in which heads give their `own`.
    """
    import torch

    if replace == "zero":
        return tuple(torch.zeros_like(layer[:1]) for layer in own)
    samples = reference_samples(model, texts)
    if replace == "mean":
        found = mean_outputs(samples)
    else:
        found = aligned_outputs(samples, identity_of(model, source), len(own[0]))
    return tuple(other.to(layer.dtype) for other, layer in zip(found, own, strict=True))


def rows_of(
    own: Outputs,
    given: Outputs,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = 0,
    seed: int = SEED,
) -> Iterator[Row]:
    """For each head the replacement, then its controls."""
    dims = {outputs.shape[-1] for outputs in own}
    by_dim = {dim: own[0].new_tensor(rotations_of(dim, draws, seed)) for dim in dims}
    for layer, (outputs, other) in enumerate(zip(own, given, strict=True)):
        rotations = by_dim[outputs.shape[-1]]
        for head in range(outputs.shape[1]):
            if heads is not None and (layer, head) not in heads:
                continue
            step = other[:, head] - outputs[:, head]  # (token, dim)
            turned = (step @ rotation for rotation in rotations)
            for place, each in enumerate((step, *turned)):
                yield Row((place, layer, head), layer, head, outputs[:, head] + each)


@lru_cache(maxsize=2)
def rotations_of(dim: int, draws: int, seed: int) -> Doubles:
    """Random rotations, (draw, dim, dim), for whatever head: their spaces have no common axes."""
    from threadpoolctl import threadpool_limits

    drawn = np.random.default_rng(seed).standard_normal((draws, dim, dim))
    with threadpool_limits(1, user_api="blas"):
        rotations, upper = np.linalg.qr(drawn)
    signs: Doubles = np.sign(np.diagonal(upper, axis1=1, axis2=2))
    return rotations * signs[:, None]  # else they are not evenly distributed (Mezzadri 2007)


def changes_of(
    way: Measured,
    before: torch.Tensor,
    rows: Sequence[Row],
    read: Read,
    copies: int,
) -> Iterator[list[float]]:
    """The changes of the rows, in order, `copies` in one run."""
    remaining = iter(rows)
    while batch := list(islice(remaining, copies)):
        replaced: dict[int, list[Replacement]] = {}
        for copy, row in enumerate(batch):
            replaced.setdefault(row.layer, []).append(Replacement(copy, row.head, row.values))
        yield way.compare(before, read(Intervention(replaced), len(batch))).tolist()


def copies_of(model: LoadedModel, way: Measured) -> int:
    """How many copies of the input run together."""
    if not model.batches:
        return 1
    return max(1, min(COPIED_TOKENS // way.tokens, MAX_READ // max(1, way.numbers)))


def run_changed(
    model: LoadedModel,
    way: Measured,
    intervention: Intervention,
    copies: int = 1,
    prefix: SharedPrefix | None = None,
) -> torch.Tensor:
    """What is read after an intervention, (copy, number), of so many copies of the input.

    A `prefix` is one object for all passes over this input, the first of them of one copy without
    an intervention. Raises `UnsupportedModelError` as :func:`run`.
    """
    import torch

    if prefix is not None:
        prefix.begin(intervention, copies)
    with torch.inference_mode():
        return way.read(run(model, way, prefix or intervention, copies))
