"""What it costs to look inside a model, beside the same network left alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch

from core.model import DEFAULT_MODEL, effects
from core.model.interventions.heads import as_input, copies_of
from core.model.interventions.measures import measured
from core.model.interventions.reference import reference_samples
from core.model.opening.catalog import bundled_folder
from core.model.opening.load import _quiet
from core.model.running.tracing import trace_inputs
from core.model.text.inputs import encode
from tests.tools.bench.measuring import few, loaded, ratios, sentence_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@cache
def plain_network() -> PreTrainedModel:
    """The bundled network as transformers loads it: stock attention, nothing recorded."""
    from transformers import AutoModel

    with _quiet():
        network = AutoModel.from_pretrained(
            bundled_folder(),
            attn_implementation="sdpa",
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
        )
    network.config.use_cache = False
    network.requires_grad_(requires_grad=False)
    return network.eval()


def capture(tokens: int, times: int) -> list[float]:
    """A forward pass that records, to a Trace, in passes of the plain network, on the same ids."""
    model, plain = loaded(DEFAULT_MODEL), plain_network()
    item = encode(model, sentence_of(tokens), None, None)

    def run_plain() -> None:
        with torch.inference_mode():
            plain(
                input_ids=torch.tensor([item.ids]),
                attention_mask=torch.tensor([[1] * len(item.ids)]),
                token_type_ids=torch.tensor([item.segments]),
            )

    return ratios(lambda: list(trace_inputs(model, [item])), run_plain, few(times, 2))


def all_effects(tokens: int, times: int) -> list[float]:
    """The effects of all heads in batches, in as many plain passes batched alike."""
    model, plain, text = loaded(DEFAULT_MODEL), plain_network(), sentence_of(tokens)
    reference_samples(model)
    way = measured(model, as_input(model, text), None)
    passes, copies = 1 + model.layers * model.heads, copies_of(model, way)
    inputs = way.inputs(copies)

    def run_plain() -> None:
        with torch.inference_mode():
            for begin in range(0, passes, copies):
                count = min(copies, passes - begin)
                plain(**{name: each[:count] for name, each in inputs.items()})

    return ratios(lambda: effects(model, text, draws=0), run_plain, few(times, 1))
