"""What it costs to look: a forward pass that records, against the same network left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model import DEFAULT_MODEL, load, trace_text
from core.model.catalog import bundled_folder
from core.model.loading import _quiet
from core.model.running.tracing import _run, trace_inputs
from core.model.text.inputs import Input, encode
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import by_turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformers import PreTrainedModel

    from core.model import LoadedModel

REPETITIONS = few({16: 200, 128: 100, 512: 40}, {16: 2})  # by the number of tokens
LIMIT = 1.10  # time with recording / time without


def run() -> None:
    """Compare at each length, both sides by turns, on the same ids."""
    model, plain = load(DEFAULT_MODEL), _plain_network()
    for tokens, times in REPETITIONS.items():
        _compare(model, plain, sentence_of(tokens), times)


def _plain_network() -> PreTrainedModel:
    """The bundled network as transformers loads it: stock attention, nothing recorded."""
    import torch
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


def _run_plain(network: PreTrainedModel, item: Input) -> None:
    """From ids to the last hidden states, as `_run` does it."""
    import torch

    with torch.inference_mode():
        network(
            input_ids=torch.tensor([item.ids]),
            attention_mask=torch.tensor([[1] * len(item.ids)]),
            token_type_ids=torch.tensor([item.segments]),
        )


def _compare(model: LoadedModel, plain: PreTrainedModel, text: str, times: int) -> None:
    item = encode(model, text, None, None)

    def compare(task: Callable[[], object], repetitions: int) -> tuple[list[float], ...]:
        """Times alone and with the task, by turns, and the ratios of neighbours in time.

        Neighbours, so that a slow minute of the machine falls on both sides.
        """
        alone, other = by_turns(repetitions, lambda: _run_plain(plain, item), task)
        return alone, other, [long / short for long, short in zip(other, alone, strict=True)]

    size = f"{len(item.ids)} tokens: "
    alone, traced, ratios = compare(lambda: list(trace_inputs(model, [item])), times)
    show(f"{size}plain forward pass (sdpa)", alone, "ms")
    show(f"{size}with capture, to a Trace", traced, "ms")
    show(f"{size}with capture, to a Trace / plain", ratios, "x", LIMIT)
    _, _, ratios = compare(lambda: _run(model, [item]), times // 2)
    show(f"{size}  of that, without building arrays / plain", ratios, "x")
    _, whole, ratios = compare(lambda: trace_text(model, text), times // 2)
    show(f"{size}trace_text, from text to Trace", whole, "ms")
    show(f"{size}trace_text / plain", ratios, "x")
