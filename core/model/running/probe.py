"""The check that lets every page say "this is the model's attention".

Attention is recomputed from what was recorded, and compared call by call with the weights and the
output of the model's own attention function. Two whole passes would drift apart in a deep model,
however right the rule is.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.model.capture.forward import AttentionMode
from core.model.capture.interface import IMPLEMENTATION
from core.model.errors import UnsupportedModelError
from core.model.proof.agreement import DiffersError
from core.model.proof.runs import Item, Passes, Runs, Samples
from core.model.proof.samples import chooses_keys
from core.model.trace import AttentionType, Trace


@dataclass(frozen=True)
class LoadCheck:
    """What the check found.

    Attributes
    ----------
    traces : of the first sample, without its tokens, by kind of attention.
    order : the kind of each attention call of a pass.
    error : the largest difference of any attention weight.
    way : "fast" where PyTorch's attention gives the same as the model's own function.
    batches : whether a padded batch gives what each item gives alone.
    further : whether the samples' further passes ran: pictures of another size.
    tokens : of the longest sample.
    outputs : names of the W_O modules, one per call (:mod:`core.model.capture.outputs`).
    changes : whether passes change the network, which must then be put back after each.
    """

    traces: dict[AttentionType, Trace]
    order: tuple[AttentionType, ...]
    error: float
    way: AttentionMode
    batches: bool
    further: bool
    tokens: int
    outputs: tuple[str, ...] | None
    changes: bool


def probe(samples: Samples[Item]) -> LoadCheck:
    """Run the samples of a network, each alone and all as a padded batch.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, when recomputed attention or its output differs from the model's
        own by more than the rounding of its number type for scores of that size, or when the tokens
        of an image are not its patches in order.
    """
    network, (first, *others) = samples.network, samples.all
    asks = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001 - it has no other name
    run = Runs(network, samples, "exact" if asks else "watched")
    try:
        alone = run.first(first)
        if run.way == "exact" and (
            chooses_keys(network.config) or not run.matches_eager(samples.canary)
        ):
            run.watch()
            alone = run.traces([first])
        alone += [trace for item in others for trace in run.traces([item])]
        together = run.batch(samples.all, alone)
    except DiffersError as error:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own: {error}.",
            samples.advice,
        ) from error
    further = samples.extra_passes(run, alone[0])
    attention_types = tuple(dict.fromkeys(run.order))
    kinds = len(attention_types)
    passes: Passes[Item] = [
        ([item], alone[index * kinds : (index + 1) * kinds])
        for index, item in enumerate(samples.all)
    ]
    passes += [(samples.all, together)] if together else []
    fast = run.way == "exact" and all(run.is_fast_the_same(*each) for each in (*passes, *further))
    outputs = run.output_modules(first)
    return LoadCheck(
        traces=dict(zip(attention_types, alone, strict=False)),  # the first sample's come first
        order=run.order,
        error=run.error,
        way="fast" if fast else run.way,
        batches=bool(together),
        further=bool(further),
        tokens=max(samples.lengths(samples.all).sources),
        outputs=outputs,
        changes=run.changes,
    )
