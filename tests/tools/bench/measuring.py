"""What the benchmarks share: how much is measured, clocks, sentences of a given length."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.model import LoadedModel

# Set by ``--smoke``, before the benchmarks are imported: of everything the least, for CI. It shows
# that a benchmark still runs, and its figures mean nothing.
SMOKE_SETTING = "HEADSCOPE_BENCH_SMOKE"
SPECIAL_TOKENS = 2  # [CLS] and [SEP]
MB = 1e6
Extent = TypeVar("Extent")
# Each is one entry of the vocabulary of bert-base-uncased.
_TEXT = (
    "my friend told me about this class and i love it so far she was right the brown book is "
    "sleeping now while leaves fall in autumn near old houses where a small dog found another "
    "planet behind some trees"
)
WORDS = _TEXT.split()


def few(usual: Extent, least: Extent) -> Extent:
    """The `usual` extent, or the `least` that shows whether a benchmark runs."""
    return least if os.environ.get(SMOKE_SETTING) else usual


def sentence_of(tokens: int, start: int = 0) -> str:
    """A text of exactly `tokens` tokens, special ones counted; another one for each `start`."""
    return " ".join(WORDS[(start + i) % len(WORDS)] for i in range(tokens - SPECIAL_TOKENS))


@cache
def loaded(name: str) -> LoadedModel:
    """A model, loaded once."""
    from core.model import load

    return load(name)


def by_turns(times: int, *tasks: Callable[[], object]) -> list[list[float]]:
    """Run the tasks in turn, `times` times over; seconds of each run, by task.

    Whatever else the machine does falls on all sides alike. One round before does not count: first
    calls allocate and choose algorithms.
    """
    taken: list[list[float]] = [[] for _ in tasks]
    for _ in range(1 + times):
        for task, runs in zip(tasks, taken, strict=True):
            start = time.perf_counter()
            task()
            runs.append(time.perf_counter() - start)
    return [runs[1:] for runs in taken]


def ratios(task: Callable[[], object], plain: Callable[[], object], times: int) -> list[float]:
    """Times of the task in times of the plain one, neighbours by neighbours."""
    ours, theirs = by_turns(times, task, plain)
    return [own / other for own, other in zip(ours, theirs, strict=True)]
