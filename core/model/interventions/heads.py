"""The effect of every head: what changes when its output before W_O is replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.measures import Measurement, Outcome
from core.model.interventions.probe import Probe, probe_of, run
from core.model.interventions.reference import (
    Doubles,
    aligned_outputs,
    identity_of,
    outputs_of,
    reference_samples,
)
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.interventions.probe import Source
    from core.model.interventions.reference import Outputs
    from core.model.interventions.stream import Stream
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
    reference: Sequence[str] | None = None,
    heads: Collection[tuple[int, int]] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> Effects:
    """Replace each head in turn, on one text or image, and measure what changes.

    Heads, of an encoder-decoder its encoder's, run in batches of at most ``COPIED_TOKENS`` tokens.

    Parameters
    ----------
    replace : "mean" for the head's mean over all tokens of the reference; "zero"; or "resample" for
        its output on the reference text nearest in length, at the aligned token.
    measure : one of ``measures_of(model)``; by default the first.
    pair : a second text, as for :func:`core.model.trace_text`.
    max_tokens : cut the text at this length if the model would take more.
    reference : texts; by default 48 of the sample corpus (or the sample images), whose outputs are
        kept with the model.
    heads : (layer, head), from 0; by default all. Heads left out are NaN.
    draws, seed : random directions for each head's control.
    progress : called after every batch with the numbers of passes done and in total.

    Raises
    ------
    UnsupportedModelError
        When the model cannot be measured this way.
    """
    probe = probe_of(model, text, measure, pair=pair, max_tokens=max_tokens)
    rows = replacement_rows(*replacements(probe, text, replace, reference), heads, draws, seed)
    before, table = head_table(probe, rows, progress=progress)
    return Effects(values=table[0], draws=table[1:], replace=replace, **probe.of(before))


def head_table(
    probe: Probe,
    rows: Iterable[tuple[int, Replacement]],
    stream: Stream | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[torch.Tensor, Doubles]:
    """The reading before, and the change by each of the :func:`replacement_rows`.

    (1 + draw, layer, head), in passes of a `stream`, by default of one that is not frozen.
    """
    from core.model.interventions.stream import Stream

    stream = stream or Stream(probe.network, frozen=False)
    rows = list(rows)
    draws = max((draw for draw, _ in rows), default=0)
    table = np.full((1 + draws, probe.model.layers, probe.model.heads), np.nan)
    before = run(probe, stream=stream)
    for first in range(0, len(rows), probe.copies):
        batch = rows[first : first + probe.copies]
        change = Intervention([each._replace(row=row) for row, (_, each) in enumerate(batch)])
        changes = probe.compare(before, run(probe, change, len(batch), stream))
        for (draw, each), value in zip(batch, changes.tolist(), strict=True):
            table[draw, each.layer, each.head] = value
        if progress is not None:
            progress(first + len(batch), len(rows))
    return before, table


def replacements(
    probe: Probe, source: Source, replace: Replace, texts: Sequence[str] | None = None
) -> tuple[Outputs, Outputs]:
    """Every head's output and its replacement, (token or 1, head, dim) for each layer.

    `source` is the text or the image that is measured; `texts` are the reference.
    """
    import torch

    own = outputs_of(probe)
    if replace == "zero":
        return own, tuple(torch.zeros_like(layer[:1]) for layer in own)
    samples = reference_samples(probe.model, texts)
    if replace == "mean":  # over all tokens of all texts
        layers = zip(*(each.outputs for each in samples), strict=True)
        others = tuple(torch.cat(layer).float().mean(0, keepdim=True) for layer in layers)
    else:
        others = aligned_outputs(samples, identity_of(probe.model, source), len(own[0]))
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
    from scipy.stats import ortho_group
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        rotations: Doubles = ortho_group.rvs(dim, max(draws, 2), np.random.default_rng(seed))
    return rotations[:draws]


def compared_with_chance(samples: Sequence[Source]) -> Sequence[Source]:
    """`COMPARED` of the samples, evenly spread.

    Random directions are the same on all samples, as a head's own direction is: otherwise luck
    would average out over samples for the directions but not for the head.
    """
    return samples[:: max(1, len(samples) // COMPARED)][:COMPARED]
