"""What it costs to look inside a model, and what all benchmarks share: extents, sentences."""

from __future__ import annotations

import os
from functools import cache
from timeit import timeit
from typing import TYPE_CHECKING, TypeVar

import torch

from core.model import DEFAULT_MODEL, effects
from core.model.interventions.probe import probe_of
from core.model.interventions.reference import reference_samples
from core.model.opening.catalog import bundled_folder
from core.model.opening.load import _quiet
from core.model.running.tracing import trace_inputs
from core.model.text.inputs import encode
from tests.model.bundled import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformers import PreTrainedModel


# Set by ``--smoke``, before the benchmarks are imported: of everything the least, for CI. It shows
# that a benchmark still runs, and its figures mean nothing.
SMOKE_SETTING = "HEADSCOPE_BENCH_SMOKE"
SPECIAL_TOKENS = 2  # [CLS] and [SEP]
Extent = TypeVar("Extent")
# Each is one entry of the vocabulary of bert-base-uncased.
WORDS = """
    my friend told me about this class and i love it so far she was right the brown book is
    sleeping now while leaves fall in autumn near old houses where a small dog found another
    planet behind some trees
""".split()  # noqa: SIM905


def few(usual: Extent, least: Extent) -> Extent:
    """The `usual` extent, or the `least` that shows whether a benchmark runs."""
    return least if os.environ.get(SMOKE_SETTING) else usual


def sentence_of(tokens: int, start: int = 0) -> str:
    """A text of exactly `tokens` tokens, special ones counted; another one for each `start`."""
    return " ".join(WORDS[(start + i) % len(WORDS)] for i in range(tokens - SPECIAL_TOKENS))


def ratios(task: Callable[[], object], plain: Callable[[], object], times: int) -> list[float]:
    """Times of the task in times of the plain one, run by turns.

    Whatever else the machine does falls on both alike. One round before does not count: first calls
    allocate and choose algorithms.
    """
    taken = [(timeit(task, number=1), timeit(plain, number=1)) for _ in range(1 + times)]
    return [own / other for own, other in taken[1:]]


@cache
def plain_network() -> PreTrainedModel:
    """The bundled network as transformers loads it: its fastest attention, nothing recorded."""
    from transformers import AutoModel

    with _quiet():
        return AutoModel.from_pretrained(bundled_folder(), dtype=torch.float32).eval()


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
    probe = probe_of(model, text)
    passes, copies = 1 + model.layers * model.heads, probe.copies
    inputs = probe.inputs(copies)

    def run_plain() -> None:
        with torch.inference_mode():
            for begin in range(0, passes, copies):
                count = min(copies, passes - begin)
                plain(**{name: each[:count] for name, each in inputs.items()})

    return ratios(lambda: effects(model, text, draws=0), run_plain, few(times, 1))
