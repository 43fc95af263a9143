"""A few page runs go at once, and whoever came first to a queue is served first."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from core.ui.serve import turns
from core.ui.serve.turns import MAX_INSIDE

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 20.0  # seconds after which a test has failed


def started(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_few_are_inside_at_once_long_work_makes_room_and_nobody_waits_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, leave = list[str](), threading.Event()

    def run(name: str, *, works: bool = False) -> None:
        with turns.page_run(), turns.long_work() if works else nullcontext():
            inside.append(name)
            leave.wait(LONG)

    monkeypatch.setattr(turns, "MAX_WAIT_SECONDS", LONG)
    runs = [started(lambda: run("work", works=True)) for _ in range(MAX_INSIDE)]
    wait_until(lambda: inside.count("work") == MAX_INSIDE)
    runs += [started(lambda: run("short")) for _ in range(MAX_INSIDE)]
    wait_until(lambda: inside.count("short") == MAX_INSIDE)
    runs.append(started(lambda: run("waits")))
    time.sleep(0.05)
    assert "waits" not in inside
    monkeypatch.setattr(turns, "MAX_WAIT_SECONDS", 0.01)
    runs.append(started(lambda: run("late")))
    wait_until(lambda: "late" in inside)
    leave.set()
    for each in runs:
        each.join(LONG)
    assert "waits" in inside
    assert turns._door._value == MAX_INSIDE
