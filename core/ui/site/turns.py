"""Short answers and long work take turns on one server; long work is done first come, first served.

Threads of Python share one lock. A thread that runs a model lets go of it at every operation and
gets it back behind all others that want it: among thirty busy visitors, one who builds an atlas
takes ten to a hundred times as long as alone. So page runs go through a door that lets in a few at
a time, in their order, and long work waits while there are any; but every other second it has the
server for a moment, with the door closed.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = 4  # page runs inside; more would only wait for each other, and take memory meanwhile
SHORT_SECONDS = 1.0  # after which a run is no short answer: it keeps nobody waiting any more
MOST_AT_DOOR_SECONDS = 10.0  # a run goes in then, however many are inside
EVERY_SECONDS = 1.0  # long work waits this long at most for a moment without short answers
SLICE_SECONDS = 0.5  # that it gets then, with the door closed
EMPTYING_SECONDS = 0.5  # before that, for those inside to finish
_LOOK_SECONDS = 0.25  # between two looks at the door, for what only time changes


class _Visit:
    """One page run at the door or inside."""

    def __init__(self, came: float) -> None:
        self.came = self.entered = came
        self.let_in = threading.Event()


class Turns:
    """The door of one process; all threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._inside: set[_Visit] = set()
        self._at_door: OrderedDict[_Visit, None] = OrderedDict()
        self._closed_until = 0.0  # a slice of long work is on until then
        self._mine = threading.local()

    @contextmanager
    def short_answer(self) -> Iterator[None]:
        """Around a page run: waits at the door while enough others are inside."""
        visit = _Visit(time.monotonic())
        with self._lock:
            self._at_door[visit] = None
            self._admit()
        while not visit.let_in.wait(_LOOK_SECONDS):
            with self._lock:
                self._admit()
        self._mine.visit = visit
        try:
            yield
        finally:
            self._mine.visit = None
            self._leave(visit)

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Within a page run, around what is not short: nobody waits for this run meanwhile."""
        visit: _Visit | None = getattr(self._mine, "visit", None)
        if visit is not None:
            self._leave(visit)
        try:
            yield
        finally:
            with self._lock:
                self._closed_until = 0.0
                if visit is not None:  # it has waited enough: not through the door again
                    visit.entered = time.monotonic()
                    self._inside.add(visit)
                self._admit()

    def give_way(self) -> None:
        """Between two steps of long work: short answers first, for `EVERY_SECONDS` at most.

        Returns at once where there are none, and within a slice of time; several threads that do
        one work share it.
        """
        with self._lock:
            if time.monotonic() < self._closed_until:
                return
            self._admit()
            if self._lock.wait_for(lambda: not self.short_answers, EVERY_SECONDS):
                return
            self._closed_until = time.monotonic() + EMPTYING_SECONDS + SLICE_SECONDS
            self._lock.wait_for(lambda: not self._young(), EMPTYING_SECONDS)
            self._closed_until = time.monotonic() + SLICE_SECONDS

    @property
    def short_answers(self) -> int:
        """How many page runs are at the door, or inside and still short."""
        return len(self._at_door) + self._young()

    def _young(self) -> int:
        since = time.monotonic() - SHORT_SECONDS
        return sum(visit.entered > since for visit in self._inside)

    def _admit(self) -> None:
        """Let in whoever is next and may; for the holder of the lock."""
        now = time.monotonic()
        while self._at_door:
            first = next(iter(self._at_door))
            full = self._young() >= AT_ONCE or now < self._closed_until
            if full and now - first.came < MOST_AT_DOOR_SECONDS:
                return
            del self._at_door[first]
            first.entered = now
            self._inside.add(first)
            first.let_in.set()

    def _leave(self, visit: _Visit) -> None:
        with self._lock:
            self._inside.discard(visit)
            self._admit()
            self._lock.notify_all()


class Line:
    """Those who wait to do one kind of long work; the first of them has the turn."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tickets: list[object] = []

    def join(self) -> object:
        """A ticket, behind all others."""
        ticket = object()
        with self._changed:
            self._tickets.append(ticket)
        return ticket

    def ahead(self, ticket: object) -> int:
        """How many come before; 0 for whoever has the turn."""
        with self._changed:
            return self._tickets.index(ticket)

    def wait(self, ticket: object, seconds: float) -> bool:
        """Until somebody has left, or so long; whether it is this ticket's turn."""
        with self._changed:
            if self._tickets[0] is not ticket:
                self._changed.wait(seconds)
            return self._tickets[0] is ticket

    def leave(self, ticket: object) -> None:
        """Once done, or not waiting any more. A ticket that has left already is no error."""
        with self._changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            self._changed.notify_all()


_turns = Turns()
short_answer = _turns.short_answer
long_work = _turns.long_work
give_way = _turns.give_way
