"""Atlases of any size: what one process and several take to build them, and how that grows."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.atlas.command_line.output import write_folder
from core.atlas.command_line.tracing import traces_of
from core.atlas.engine import Row, chunks_of, walk
from core.atlas.engine.folder import FolderStore
from core.model import DEFAULT_MODEL, load
from core.model.running.tracing import BATCH_TOKENS
from core.model.text.inputs import token_lengths
from tests.server import ROOT
from tests.tools.bench import extent
from tests.tools.bench.atlas_capture import _batches, _run_plain, large_corpus, tell_load
from tests.tools.bench.command import Built, build_apart
from tests.tools.bench.extent import few
from tests.tools.bench.forward import _plain_network
from tests.tools.bench.report import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transformers import PreTrainedModel

    from core.atlas.engine import Chunk
    from core.model import LoadedModel
    from tests.tools.bench.atlas_capture import Batch

ONE_PROCESS = few(40_000, 100)  # tokens, to compare with plain forward passes
PART = few(8_192, 50)  # tokens, as on the command line
TURNS = few(3, 1)
FORWARD_LIMIT = 1.3  # texts to vectors on disk, in plain forward passes
SMALL, LARGE = few((50_000, 1_000_000), (50, 100))  # tokens, of which growth is told
GROWTH_LIMIT = 1.15  # (time / time) / (tokens / tokens)
MEMORY_LIMIT_MB = 1500.0
CLUSTER = 20_000, 80_000  # tokens; the difference leaves out what it takes to begin
PLAIN_SECONDS = few(20.0, 0.1)


def run() -> None:
    """Everything, each with its limit and the load of the machine."""
    show_one_process()
    show_workers()
    show_growth()


def show_one_process() -> None:
    """Tokens a second beside plain forward passes of the same batches, by turns.

    Both sides run in this process with the same threads, in batches that are padded alike, after a
    turn that does not count. The passes get ids and masks, the walk gets texts. Every turn has a
    store of its own, so that the memory of its first part is new each time.
    """
    model, plain = _model(), _plain_network()
    chunks = list(chunks_of(_rows(ONE_PROCESS), PART))
    batches = [b for chunk in chunks for b in _batches(model, list(chunk.texts.values()))]
    tokens = sum(sum(chunk.lengths.values()) for chunk in chunks)
    for _ in range(few(1, 0)):
        _run_plain(plain, batches)
        _build_once(chunks)
    turns = [_one_turn(plain, batches, chunks) for _ in range(TURNS)]
    passes, traced, written = ([turn.seconds[i] for turn in turns] for i in range(3))
    busy_passes, busy = ([turn.busy[i] for turn in turns] for i in range(2))
    name = f"{tokens} tokens, one process"
    show(f"{name}: plain forward passes", passes, "s")
    show(f"{name}: texts to vectors and sums on disk", traced, "s")
    show(f"{name}:   beside the passes", _ratios(traced, passes), "x", FORWARD_LIMIT)
    show(f"{name}:   beside the passes, processor time", _ratios(busy, busy_passes), "x")
    show(f"{name}: merge, project, count, write", written, "s")
    show(f"{name}:   beside the passes", _ratios(written, passes), "x")
    show(f"{name}: tokens a second, passes", [tokens / each for each in passes], "count")
    both = [one + other for one, other in zip(traced, written, strict=True)]
    show(f"{name}: tokens a second, texts to atlas", [tokens / each for each in both], "count")
    tell_load()


class _Turn(NamedTuple):
    """What plain passes, the walk and the rest took: seconds, and seconds of processors."""

    seconds: list[float]
    busy: list[float]


def _one_turn(plain: PreTrainedModel, batches: list[Batch], chunks: Sequence[Chunk]) -> _Turn:
    marks = [_clocks()]
    _run_plain(plain, batches)
    marks.append(_clocks())
    marks += _build_once(chunks)
    seconds, busy = np.diff(np.array(marks), axis=0).T.tolist()
    return _Turn(seconds, busy)


def _build_once(chunks: Sequence[Chunk]) -> list[tuple[float, float]]:
    """The clocks once the vectors are on disk, and once the folder of the atlas is."""
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        traces = traces_of(_model(), BATCH_TOKENS)
        sums = walk(chunks, traces, store)
        if sums is None:
            raise RuntimeError("the corpus has no sentence")
        traced = _clocks()
        write_folder(store, sums, Path(folder) / "out.atlas", {}, lambda _: None)
        return [traced, _clocks()]


def _clocks() -> tuple[float, float]:
    """Of the wall, and of the processors for this process with all its threads."""
    return time.perf_counter(), time.process_time()


def show_growth() -> None:
    """The command line with a small and a large corpus, in processes of their own."""
    built = {}
    for tokens in few((SMALL, LARGE), (LARGE,)):
        built[tokens] = build_rows(tokens)
        name = f"command line, {tokens} tokens"
        show(f"{name}: start to folder", [built[tokens].seconds], "s")
        show(f"{name}: peak", [built[tokens].peak_mb], "MB", MEMORY_LIMIT_MB)
        show(f"{name}: bytes a token on disk", [built[tokens].bytes / tokens], "count")
        tell_load()
    if SMALL in built:
        ratio = (built[LARGE].seconds / LARGE) / (built[SMALL].seconds / SMALL)
        show("command line: ratio of times / ratio of tokens", [ratio], "x", GROWTH_LIMIT)


def show_workers() -> None:
    """Two workers of one core each over one, beside what two plain processes are over one."""
    if extent.SMOKE or find_spec("ray") is None:
        why = "the tests start it" if extent.SMOKE else "it is not installed here"
        print(f"  Ray's workers are not measured: {why}", flush=True)
        return
    alone = _plain_rates(1)
    limit = sum(_plain_rates(2)) / alone[0]
    show("two plain processes of one core over one: tokens a second", [limit], "x")
    rates = []
    for count in (1, 2):
        extra = ("--ray", "local", "--workers", str(count), "--worker-cores", "1")
        small, large = (build_rows(tokens, *extra).seconds for tokens in CLUSTER)
        rates.append((CLUSTER[1] - CLUSTER[0]) / (large - small))
        show(f"Ray, {count} workers: {CLUSTER[0]} tokens, start to folder", [small], "s")
        show(f"Ray, {count} workers: {CLUSTER[1]} tokens, start to folder", [large], "s")
        show(f"Ray, {count} workers: tokens a second", [rates[-1]], "count")
    show("two workers over one", [rates[1] / rates[0]], "x")
    show("  of what two plain processes are over one", [rates[1] / rates[0] / limit], "x")
    tell_load()


def build_rows(tokens: int, *options: str) -> Built:
    """A folder of about so many tokens, by ``python -m core.atlas_build``."""
    return build_apart((row.text for row in _rows(tokens)), *options)


def plain_rate(seconds: float) -> float:
    """Tokens a second of plain forward passes, over and over for so long, after a first one."""
    model, plain = _model(), _plain_network()
    texts = [row.text for row in _rows(PART)]
    batches = _batches(model, texts)
    tokens = sum(token_lengths(model, texts, None))
    _run_plain(plain, batches)
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        _run_plain(plain, batches)
        done += tokens
    return done / (time.perf_counter() - start)


def _plain_rates(processes: int) -> list[float]:
    """Of so many processes at once, with one thread each."""
    code = f"from tests.tools.bench.scale import plain_rate; print(plain_rate({PLAIN_SECONDS}))"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE
        )
        for _ in range(processes)
    ]
    return [float(each.communicate()[0]) for each in running]


def _rows(tokens: int) -> Iterator[Row]:
    """Sentences of the sample corpus, each round numbered, until they have so many tokens."""
    model, number, rest = _model(), 0, tokens
    for turn in range(1, tokens):
        texts = [f"{turn}. {text.partition('. ')[2]}" for text in large_corpus(1)]
        for text, length in zip(texts, token_lengths(model, texts, None), strict=True):
            yield Row(number, length, text)
            number, rest = number + 1, rest - length
            if rest <= 0:
                return


@cache
def _model() -> LoadedModel:
    return load(DEFAULT_MODEL)


def _ratios(times: Sequence[float], passes: Sequence[float]) -> list[float]:
    return [float(each) for each in np.asarray(times) / np.asarray(passes)]
