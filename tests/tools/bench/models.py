"""What it costs to look inside a model, and what all benchmarks share: extents, sentences."""

from __future__ import annotations

import os
from timeit import timeit
from typing import TypeVar

import torch
from transformers import AutoModel

from core.model.opening.catalog import DEFAULT_MODEL, bundled_folder
from core.model.running.tracing import trace_inputs
from core.model.text.inputs import encode
from tests.model.bundled import loaded

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


def capture(tokens: int, times: int) -> list[float]:
    """A forward pass that records, to a Trace, in passes of the network as transformers loads it.

    They are run by turns: whatever else the machine does falls on both alike. One round before does
    not count: first calls allocate and choose algorithms.
    """
    model = loaded(DEFAULT_MODEL)
    plain = AutoModel.from_pretrained(bundled_folder(), dtype=torch.float32).eval()
    item = encode(model, sentence_of(tokens), None, None)
    columns = {"input_ids": item.ids, "token_type_ids": item.segments}
    inputs = {name: torch.tensor([each]) for name, each in columns.items()}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])

    def run_plain() -> None:
        with torch.inference_mode():
            plain(**inputs)

    def run_traced() -> None:
        list(trace_inputs(model, [item]))

    rounds = range(1 + few(times, 2))
    taken = [(timeit(run_traced, number=1), timeit(run_plain, number=1)) for _ in rounds]
    return [own / other for own, other in taken[1:]]
