"""What an atlas costs to make: beside plain forward passes, to search, to lay out.

Run as ``python -m tests.tools.bench.atlas_capture 5000``, this makes one atlas in a process of its
own and prints what that took: the largest memory of a process cannot be measured twice.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from core.analysis.corpus.sample import sample_sentences
from core.atlas import search_tokens
from core.atlas.dispersion import dispersion
from core.atlas.engine import MemoryStore, atlas_of
from core.atlas.layouts import lay_out_head
from core.model import DEFAULT_MODEL, choose_texts, load, trace_by_length
from core.model.capture.forward import inputs_of
from core.model.running.tracing import BATCH_TOKENS, batches_by_length
from core.model.text.inputs import encode
from tests.tools.bench.extent import few
from tests.tools.bench.forward import _plain_network
from tests.tools.bench.report import show
from tests.tools.bench.timing import by_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedModel

    from core.analysis.projections.joint_embedding import Projection
    from core.atlas import Atlas
    from core.atlas.search.expression import Kind
    from core.model import LoadedModel

    Batch = dict[str, torch.Tensor]

USUAL, MOST = few((5_000, 50_000), (100, 100))  # tokens: what the page takes at first, and at most
# Of the sample corpus, numbered so that no sentence is twice there: over 50,000 tokens.
ROUNDS = few(9, 1)
TURNS = few(3, 1)
SHARE, EXTRA_S = 1.3, 3.0  # of the plain forward passes, and seconds on top
LAYOUT_LIMIT_S = 12.0  # one head of 2,500 tokens
LAYOUT_HEAD = 3, 1
SEARCH_LIMIT_S = 0.5
SEARCHES: tuple[tuple[str, Kind], ...] = (
    ("she", "token"),
    ("e", "substring"),
    ("of the", "phrase"),
    (r"\bw\w+", "regex"),
)


class Made(NamedTuple):
    """One atlas in a process of its own: tokens, seconds of the two steps, megabytes."""

    tokens: int
    capture: float
    project: float
    peak: float


def show_costs() -> None:
    """What is measured in this process: passes, searches, layouts."""
    atlas = _show_forward()
    _show_searches(atlas)
    _show_layouts(atlas)


def large_corpus(rounds: int = ROUNDS) -> list[str]:
    """The sample corpus over and over, each round with its number before every sentence."""
    return [f"{turn}. {text}" for turn in range(1, rounds + 1) for text in sample_sentences()]


def tell_load() -> None:
    """What else the machine does: above the number of cores, the figures near it are too high."""
    loads = " ".join(f"{load:.2f}" for load in psutil.getloadavg())
    print(f"  load average: {loads} on {os.cpu_count()} cores", flush=True)


def _show_forward() -> Atlas:
    """Plain forward passes and the atlas by turns, of the same texts in the same batches."""
    model, texts = load(DEFAULT_MODEL), _texts_of(sample_sentences(), USUAL)
    plain, batches = _plain_network(), _batches(model, texts)
    tokens = sum(int(batch["attention_mask"].sum()) for batch in batches)
    made: list[Atlas] = []

    def make() -> None:
        made[:] = [atlas_of(_gather(model, texts), texts)]

    alone, whole = by_turns(TURNS, lambda: _run_plain(plain, batches), make)
    captured, hidden = by_turns(
        TURNS,
        lambda: _gather(model, texts),
        lambda: [None for _ in trace_by_length(model, texts)],
    )
    seconds = [each / 1e3 for each in alone]
    name = f"{tokens} tokens"
    show(f"{name}: plain forward passes (sdpa), from ids", seconds, "s")
    limit = SHARE * float(np.median(seconds)) + EXTRA_S
    show(f"{name}: texts to atlas, all heads in PCA", [each / 1e3 for each in whole], "s", limit)
    show(f"{name}:   of that, texts to traces", [each / 1e3 for each in hidden], "s")
    show(f"{name}:   texts to traces, gathered", [each / 1e3 for each in captured], "s")
    print("  AttentionViz (its paper): about 3 hours a data set of 5,000 tokens, on an A100")
    tell_load()
    return made[0]


def _texts_of(corpus: Sequence[str], tokens: int) -> list[str]:
    chosen = choose_texts(load(DEFAULT_MODEL), corpus, tokens)
    return [corpus[place] for place in chosen.places]


def _batches(model: LoadedModel, texts: Sequence[str]) -> list[Batch]:
    """The padded tensors that `trace_by_length` makes of these texts, in its order."""
    items = [encode(model, text, None, None) for text in texts]
    batches = []
    for places in batches_by_length([len(item.ids) for item in items], BATCH_TOKENS):
        ids, segments = ([getattr(items[i], name) for i in places] for name in ("ids", "segments"))
        batches.append(inputs_of(model.network, model.tokenizer, ids, segments))
    return batches


def _run_plain(network: PreTrainedModel, batches: list[Batch]) -> None:
    import torch

    with torch.inference_mode():
        for batch in batches:
            network(**batch)


def _gather(model: LoadedModel, texts: Sequence[str]) -> MemoryStore:
    store = MemoryStore()
    builder = store.builder(0)
    for place, trace in trace_by_length(model, texts):
        builder.add(place, trace)
    store.put(0, builder.finish(texts))
    return store


def _show_searches(atlas: Atlas) -> None:
    def search(query: str, kind: Kind) -> None:
        found = search_tokens(atlas, query, kind)
        dispersion(atlas.points["raw"][..., :2], found.tokens)

    for query, kind in SEARCHES:
        count = search_tokens(atlas, query, kind).count
        (taken,) = by_turns(TURNS, partial(search, query, kind))
        name = f"search, {kind} “{query}” ({count} matches), dispersion"
        show(name, [each / 1e3 for each in taken], "s", SEARCH_LIMIT_S)
    tell_load()


def _show_layouts(atlas: Atlas) -> None:
    """UMAP's process starts with the first: cold. Then once more: warm."""
    ways: tuple[tuple[Projection, str, float | None], ...] = (
        ("UMAP", "its process started", LAYOUT_LIMIT_S),
        ("UMAP", "process running", LAYOUT_LIMIT_S),
        ("t-SNE", "first time", None),
        ("t-SNE", "again", None),
    )
    for projection, told, limit in few(ways, ways[2:3]):
        start = time.perf_counter()
        layout = lay_out_head(atlas, *LAYOUT_HEAD, "raw", projection)
        seconds = time.perf_counter() - start
        name = f"{projection} of one head, {len(layout.points)} points, {told}"
        show(name, [seconds], "s", limit)
    print("  AttentionViz (its paper): 57 to 146 s a head of 2,517 tokens")
    tell_load()


def make_atlas(tokens: int) -> Made:
    """Captured, projected, kept: as the page does it."""
    model, texts = load(DEFAULT_MODEL), _texts_of(large_corpus(), tokens)
    gathered = _gather(model, texts[:8])  # a model's first run takes longer than all others
    start = time.perf_counter()
    gathered = _gather(model, texts)
    captured = time.perf_counter()
    atlas = atlas_of(gathered, texts)
    done = time.perf_counter()
    return Made(len(atlas.tokens), captured - start, done - captured, _peak_mb())


def _peak_mb() -> float:
    """The largest memory this process has had."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return float(kilobytes) * 1024 / 1e6


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens", type=int)
    print(json.dumps(make_atlas(parser.parse_args().tokens)))
