"""The effects of all heads in batches, against as many plain passes batched alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from core.model import DEFAULT_MODEL, effects, load
from core.model.interventions.attribution import attributed_effects
from core.model.interventions.heads import as_input, copies_of
from core.model.interventions.measures import measured
from core.model.interventions.reference import reference_samples
from tests.tools.bench.effect_lens import CAUSAL, compare_with_lens
from tests.tools.bench.extent import few
from tests.tools.bench.forward import _plain_network
from tests.tools.bench.report import show
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import by_turns

if TYPE_CHECKING:
    from core.model import LoadedModel

REPETITIONS = few({16: 20, 128: 3}, {16: 1})  # by the number of tokens
LIMIT = 1.5  # time of all heads / time of as many plain passes


def run() -> None:
    """All heads of the default model at each length; of decoders, the gradient and a peer."""
    model, plain = load(DEFAULT_MODEL), _plain_network()
    reference_samples(model)
    for tokens, times in REPETITIONS.items():
        _compare(model, plain, sentence_of(tokens), times)
    decoder, text = load(CAUSAL), sentence_of(16)
    reference_samples(decoder)
    each, once = by_turns(
        few(20, 1),
        lambda: effects(decoder, text, measure="logit_difference", draws=0),
        lambda: attributed_effects(decoder, text),
    )
    show("decoder, 16 tokens: all heads replaced in turn", each, "ms")
    show("decoder, 16 tokens: attribution patching", once, "ms")
    compare_with_lens()


def _compare(model: LoadedModel, plain: torch.nn.Module, text: str, times: int) -> None:
    way = measured(model, as_input(model, text), None)
    passes, copies = 1 + model.layers * model.heads, copies_of(model, way)
    inputs = way.inputs(copies)

    def run_plain() -> None:
        with torch.inference_mode():
            for begin in range(0, passes, copies):
                count = min(copies, passes - begin)
                plain(**{name: each[:count] for name, each in inputs.items()})

    ours, theirs = by_turns(times, lambda: effects(model, text, draws=0), run_plain)
    name = f"{way.tokens} tokens, {passes} passes of {copies} at once"
    show(f"{name}: plain", theirs, "ms")
    show(f"{name}: with a head replaced in each", ours, "ms")
    ratios = [own / other for own, other in zip(ours, theirs, strict=True)]
    show(f"{name}: replaced / plain", ratios, "x", LIMIT)
