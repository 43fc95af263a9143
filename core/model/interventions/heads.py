"""The effect of every head: what changes when its output before W_O is replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.model import sample_images
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.measures import Measurement, Outcome
from core.model.interventions.probe import Probe, probe_of, run
from core.model.interventions.reference import (
    Doubles,
    aligned_outputs,
    identity_of,
    mean_outputs,
    outputs_of,
    reference_samples,
    reference_texts,
)
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.probe import Source
    from core.model.interventions.reference import Outputs
    from core.model.interventions.stream import Follower
    from core.model.running.loaded import LoadedModel

Replace = Literal["mean", "zero", "resample"]
DRAWS = 8  # random directions of every head; what is left out of eight is pooled over heads
SINGLE_DRAWS = 19  # of one head: by chance its effect exceeds all of them once in 20
FRESH_DRAWS = 99  # of each head that is claimed to matter: 1 in 100 by chance
SEED, FRESH_SEED = 0, 1
# Random directions, the same on every sample, and how many samples. With fewer than ten directions,
# however many heads, no single head could exceed chance at a false discovery rate of 10 %.
SAMPLE_DRAWS, COMPARED = 10, 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Effects(Measurement):
    """What replacing each head changes.

    Attributes
    ----------
    values : (layer, head), NaN where a layer has no such head; positive where the model's own
        answer becomes less likely, or its vector moves.
    draws : (draw, layer, head): the change when the head's output moves as far as the replacement
        moves it, at every token, in a random direction: one rotation for all tokens.
    replace : what replaces a head's output.
    """

    values: Doubles
    draws: Doubles
    replace: Replace

    @property
    def control(self) -> Doubles:
        """The largest absolute value of the :attr:`draws`, (layer, head); NaN without any."""
        return np.abs(self.draws).max(axis=0) if len(self.draws) else self.values * np.nan


@refusing_to("run")
def effects(
    model: LoadedModel,
    text: Source,
    replace: Replace = "mean",
    measure: Outcome | None = None,
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

    All heads run in batches of at most ``COPIED_TOKENS`` tokens, so memory does not grow with their
    number. For an encoder-decoder, they are the encoder's heads.

    Parameters
    ----------
    replace : "mean" for the head's mean over all tokens of the reference; "zero"; or "resample" for
        its output on the reference text nearest in length, at the aligned token.
    measure : one of ``measures_of(model)``; by default the first.
    pair : a second text, as for :func:`core.model.trace_text`.
    max_tokens : cut the text at this length if the model would take more.
    words : the two whose logits a "logit_difference" compares, first minus second; each must be one
        token (after a blank, where the vocabulary has that). By default, the model's two likeliest.
    reference : texts; by default 48 of the sample corpus (or the sample images), whose outputs are
        kept with the model.
    heads : (layer, head), from 0; by default all. Heads left out are NaN.
    draws, seed : random directions for each head's control.
    progress : called after every batch with the numbers of passes done and in total.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured this way.
    WrongInputError
        When `words` do not belong to the measure, or one of them is not one token.
    """
    from core.model.interventions.stream import SharedPrefix

    probe = probe_of(model, text, measure, pair=pair, max_tokens=max_tokens, words=words)
    before, table = head_table(
        probe,
        replacements(probe, text, replace, reference),
        SharedPrefix(probe.network, model.network),
        heads=heads,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    return Effects(values=table[0], draws=table[1:], replace=replace, **probe.of(before))


def head_table(
    probe: Probe,
    given: tuple[Outputs, Outputs],
    follower: Follower,
    *,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = 0,
    seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[torch.Tensor, Doubles]:
    """The reading before, and the change by each replacement, (1 + draw, layer, head).

    `given` comes from :func:`replacements`; the other parameters are as for :func:`effects`.
    """
    rows = list(replacement_rows(*given, heads, draws, seed))
    remaining, done = iter(rows), 0
    table = np.full((1 + draws, len(given[0]), max(each.shape[1] for each in given[0])), np.nan)
    before = run(probe, follower=follower)
    while batch := list(islice(remaining, probe.copies)):
        change = Intervention([each._replace(row=row) for row, (_, each) in enumerate(batch)])
        changes = probe.compare(before, run(probe, change, len(batch), follower))
        for (draw, each), value in zip(batch, changes.tolist(), strict=True):
            table[draw, each.layer, each.head] = value
        done += len(batch)
        if progress is not None:
            progress(done, len(rows))
    return before, table


def replacements(
    probe: Probe, source: Source, replace: Replace, texts: Sequence[str] | None = None
) -> tuple[Outputs, Outputs]:
    """Every head's output and its replacement, (token or 1, head, dim) for each layer.

    `source` is the text or the image that is measured; `texts` are the reference.
    """
    import torch

    model, own = probe.model, outputs_of(probe)
    if replace == "zero":
        return own, tuple(torch.zeros_like(layer[:1]) for layer in own)
    samples = reference_samples(model, texts)
    if replace == "mean":
        others = mean_outputs(samples)
    else:
        others = aligned_outputs(samples, identity_of(model, source), len(own[0]))
    return own, tuple(other.to(layer.dtype) for other, layer in zip(others, own, strict=True))


def replacement_rows(
    own: Outputs,
    given: Outputs,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = 0,
    seed: int = SEED,
) -> Iterator[tuple[int, Replacement]]:
    """Each head's replacement, numbered 0, then its controls, numbered from 1."""
    dims = {outputs.shape[-1] for outputs in own}
    by_dim = {dim: own[0].new_tensor(rotations_of(dim, draws, seed)) for dim in dims}
    for layer, (outputs, other) in enumerate(zip(own, given, strict=True)):
        rotations = by_dim[outputs.shape[-1]]
        for head in range(outputs.shape[1]):
            if heads is not None and (layer, head) not in heads:
                continue
            step = other[:, head] - outputs[:, head]  # (token, dim)
            turned = (step @ rotation for rotation in rotations)
            for draw, shift in enumerate((step, *turned)):
                yield draw, Replacement(layer, head, outputs[:, head] + shift)


@lru_cache(maxsize=2)
def rotations_of(dim: int, draws: int, seed: int) -> Doubles:
    """Random rotations, (draw, dim, dim), for any head: heads' spaces have no common axes."""
    from threadpoolctl import threadpool_limits

    gaussians = np.random.default_rng(seed).standard_normal((draws, dim, dim))
    with threadpool_limits(1, user_api="blas"):
        rotations, upper = np.linalg.qr(gaussians)
    signs: Doubles = np.sign(np.diagonal(upper, axis1=1, axis2=2))
    return rotations * signs[:, None]  # else they are not uniform (Mezzadri 2007)


def samples_of(model: LoadedModel) -> tuple[str, ...]:
    """The sentences of the reference, or the names of all sample images."""
    return tuple(sample_images.SAMPLE_IMAGES) if model.sees_images else reference_texts()


def compared_with_chance(model: LoadedModel) -> range:
    """The indices of `COMPARED` samples of :func:`samples_of`, evenly spread."""
    count = len(samples_of(model))
    return range(0, count, max(1, count // COMPARED))[:COMPARED]


def sample_effects(
    model: LoadedModel,
    place: int,
    replace: Replace = "mean",
    measure: Outcome | None = None,
    *,
    draws: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Effects:
    """The :func:`core.model.effects` of the sample at that index of :func:`samples_of`.

    Random directions are the same on all samples, as a head's own direction is: otherwise luck
    would average out over samples for the directions but not for the head. Replacements come from
    the default reference, which includes the samples.
    """
    name = samples_of(model)[place]
    sample = sample_images.open_sample_image(name) if model.sees_images else name
    return effects(model, sample, replace, measure, draws=draws, progress=progress)
