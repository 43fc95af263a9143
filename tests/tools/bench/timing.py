"""Measure by turns, so that whatever else the machine does falls on all sides alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.tools.bench.extent import few

if TYPE_CHECKING:
    from collections.abc import Callable

_WARM_UP = few(3, 0)  # runs that do not count: first calls allocate and choose algorithms


def by_turns(times: int, *tasks: Callable[[], object]) -> list[list[float]]:
    """Run the tasks one after the other, `times` times over; milliseconds of each run, by task."""
    for task in tasks * _WARM_UP:
        task()
    taken: list[list[float]] = [[] for _ in tasks]
    for _ in range(times):
        for task, runs in zip(tasks, taken, strict=True):
            runs.append(milliseconds(task))
    return taken


def milliseconds(task: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return (time.perf_counter() - start) * 1e3
