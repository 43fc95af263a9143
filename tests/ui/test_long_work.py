"""Few page runs at once, work done once for all who ask, and a bar that moves now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import pytest

from core.ui.serve import long_work
from core.ui.serve.long_work import MAX_INSIDE, Shared

LONG = 20.0  # seconds after which a test has failed


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_few_are_inside_at_once_long_work_makes_room_and_nobody_waits_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, leave = list[str](), threading.Event()

    def run(name: str) -> None:
        with long_work.page_run(), long_work.long_work() if name == "work" else nullcontext():
            inside.append(name)
            leave.wait(LONG)

    monkeypatch.setattr(long_work, "MAX_WAIT_SECONDS", LONG)
    with ThreadPoolExecutor(20) as pool:
        for name in ("work", "short"):
            runs = [pool.submit(run, name) for _ in range(MAX_INSIDE)]
            wait_until(lambda name=name: inside.count(name) == MAX_INSIDE)  # type: ignore[misc]
        runs.append(pool.submit(run, "waits"))
        time.sleep(0.05)
        assert "waits" not in inside
        monkeypatch.setattr(long_work, "MAX_WAIT_SECONDS", 0.01)
        runs.append(pool.submit(run, "late"))
        wait_until(lambda: "late" in inside)
        leave.set()
    assert "waits" in inside
    assert long_work._door._value == MAX_INSIDE


VISITORS = 10


class Left(BaseException):
    """As Streamlit ends a run whose visitor has left."""


@pytest.mark.parametrize("error", [Left, ValueError])
def test_one_of_the_waiting_takes_over(error: type[BaseException]) -> None:
    """The first leaves or fails while nine wait: one of them runs, for all; who waits may leave."""
    shared, runs, some_wait = Shared[list[int]]([]), list[int](), threading.Event()

    def gone() -> None:
        raise Left

    def visit(_: int) -> int:
        with shared.turn(some_wait.set):
            if not shared.kept:
                runs.append(1)
                shared.kept.append(7)
        return shared.kept[0]

    with ThreadPoolExecutor(VISITORS) as pool:
        with suppress(error), shared.turn(lambda: None):
            answers = pool.map(visit, range(VISITORS - 2))
            with pytest.raises(Left), shared.turn(gone):
                pass
            assert some_wait.wait(10)
            raise error
        assert list(answers) == [7] * (VISITORS - 2)
    assert len(runs) == 1


def test_a_bar_moves_between_steps_once_enough_time_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("core.ui.serve.long_work.time.perf_counter", lambda: now)
    moved: list[tuple[float, str]] = []
    bar = long_work.ProgressBar(lambda share, words: moved.append((share, words)))
    bar.step(0.1, "too early")
    now = long_work.UPDATE_SECONDS * 2
    bar.step(0.2, "in time")
    bar.step(0.3, "too early again")
    bar.show(1.5, "at once, and not beyond its end")
    assert moved == [(0.2, "in time"), (1.0, "at once, and not beyond its end")]
