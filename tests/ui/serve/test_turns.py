"""Short answers come first, long work comes to an end, and whoever came first is served first."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from core.ui.serve import turns
from core.ui.serve.turns import MAX_INSIDE, FifoQueue, Turns

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


class Visitors:
    """Page runs that stay inside until they are told to leave."""

    def __init__(self, door: Turns) -> None:
        self.door, self.inside = door, list[int]()
        self.leave: dict[int, threading.Event] = {}
        self.threads: list[threading.Thread] = []

    def come(self, name: int) -> None:
        """One more, who is at the door or inside when this returns."""
        at_door = threading.Event()
        self.leave[name] = threading.Event()
        self.threads.append(started(lambda: self._visit(name, at_door)))
        assert at_door.wait(LONG)
        time.sleep(0.02)  # for the step from there to the door

    def _visit(self, name: int, at_door: threading.Event) -> None:
        at_door.set()
        with self.door.page_run():
            self.inside.append(name)
            self.leave[name].wait(LONG)

    def all_leave(self) -> None:
        for event in self.leave.values():
            event.set()
        for thread in self.threads:
            thread.join(LONG)


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run grows old, and nobody goes in out of impatience."""
    monkeypatch.setattr(turns, "SHORT_SECONDS", 1e6)
    monkeypatch.setattr(turns, "MAX_WAIT_SECONDS", 1e6)


@pytest.mark.usefixtures("slow_clock")
def test_few_are_inside_at_once_and_the_others_follow_in_their_order() -> None:
    visitors = Visitors(Turns())
    for name in range(MAX_INSIDE + 4):
        visitors.come(name)
    wait_until(lambda: len(visitors.inside) == MAX_INSIDE)
    assert sorted(visitors.inside) == list(range(MAX_INSIDE))
    for name in range(4):
        visitors.leave[name].set()
        wait_until(lambda: len(visitors.inside) == MAX_INSIDE + name + 1)  # noqa: B023
        assert visitors.inside[-1] == MAX_INSIDE + name
    visitors.all_leave()
    assert visitors.door.page_runs == 0


def test_a_run_that_takes_long_keeps_nobody_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SHORT_SECONDS", 0.05)
    visitors = Visitors(Turns())
    for name in range(3 * MAX_INSIDE):
        visitors.come(name)
    wait_until(lambda: len(visitors.inside) == 3 * MAX_INSIDE)
    visitors.all_leave()


def test_long_work_does_not_wait_where_nobody_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EVERY_SECONDS", 1e6)
    door = Turns()
    with door.page_run(), door.long_work():  # a page run does not wait for itself
        for _ in range(1000):
            door.give_way()
        assert door.page_runs == 0
    assert door.page_runs == 0


@pytest.mark.usefixtures("slow_clock")
def test_long_work_waits_for_a_short_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EVERY_SECONDS", 1e6)
    visitors = Visitors(Turns())
    visitors.come(0)
    steps: list[bool] = []

    def work() -> None:
        visitors.door.give_way()
        steps.append(True)

    worker = started(work)
    worker.join(0.2)
    assert not steps
    visitors.all_leave()
    worker.join(LONG)
    assert steps


@pytest.mark.usefixtures("slow_clock")
def test_long_work_goes_on_though_short_answers_never_end_and_the_door_is_closed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "EVERY_SECONDS", 0.02)
    monkeypatch.setattr(turns, "EMPTYING_SECONDS", 0.02)
    monkeypatch.setattr(turns, "SLICE_SECONDS", 1e6)
    visitors = Visitors(Turns())
    visitors.come(0)
    with visitors.door.long_work():
        for _ in range(100):  # the first begins a slice of time, the others are within it
            visitors.door.give_way()
        visitors.come(1)
        time.sleep(0.1)
        assert visitors.inside == [0]
    wait_until(lambda: visitors.inside == [0, 1])
    visitors.all_leave()


def test_many_busy_visitors_and_two_builders_all_come_to_their_end() -> None:
    door, line = Turns(), FifoQueue()
    answers, steps = list[int](), list[int]()
    over = threading.Event()

    def answer(name: int) -> None:
        while not over.is_set():
            with door.page_run():
                sum(range(20_000))
            answers.append(name)

    def build(name: int) -> None:
        with door.long_work():
            ticket = line.join()
            while not line.wait(ticket, 1.0):
                pass
            for _ in range(50):
                sum(range(20_000))
                steps.append(name)
                door.give_way()
            line.leave(ticket)

    visitors = [started(lambda name=name: answer(name)) for name in range(28)]  # type: ignore[misc]
    builders = [started(lambda name=name: build(name)) for name in range(2)]  # type: ignore[misc]
    for builder in builders:
        builder.join(LONG)
    over.set()
    for visitor in visitors:
        visitor.join(LONG)
    assert len(steps) == 100
    assert steps in ([0] * 50 + [1] * 50, [1] * 50 + [0] * 50)  # one after the other
    assert set(answers) == set(range(28))


def test_whoever_came_first_has_the_turn_and_the_others_know_how_many_come_before() -> None:
    line = FifoQueue()
    first, second, third = (line.join() for _ in range(3))
    assert [line.ahead(ticket) for ticket in (first, second, third)] == [0, 1, 2]
    assert line.wait(first, 0)
    assert not line.wait(third, 0)
    line.leave(second)  # does not want to wait
    assert line.ahead(third) == 1
    line.leave(first)
    line.leave(first)
    assert line.wait(third, LONG)


def test_who_waits_sleeps_until_somebody_leaves() -> None:
    line = FifoQueue()
    first, second = line.join(), line.join()
    seen: list[bool] = []
    waiter = started(lambda: seen.append(line.wait(second, LONG)))
    start = time.process_time()
    waiter.join(0.3)
    assert time.process_time() - start < 0.2
    assert not seen
    line.leave(first)
    waiter.join(LONG)
    assert seen == [True]
