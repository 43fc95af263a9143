"""Short answers and long work share one server; each goes first come, first served.

A thread that runs a model gives Python's lock away at every operation: among thirty visitors an
atlas takes ten to a hundred times longer than alone. So page runs pass a door that admits a few at
a time, in order; long work waits for them, but every other second has the server to itself.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

MAX_INSIDE = 4  # page runs; more would only wait for each other, and take memory meanwhile
SHORT_SECONDS = 1.0  # a run that takes longer is not a short answer and no longer holds up others
MAX_WAIT_SECONDS = 10.0  # after this a run is admitted, however many are inside
EVERY_SECONDS = 1.0  # long work waits at most this long for a moment without short answers
SLICE_SECONDS = 0.5  # which lasts this long, with the door closed
EMPTYING_SECONDS = 0.5  # before that, time for those inside to finish
_POLL_SECONDS = 0.25  # how often to check the door for what only time changes


class _Visit:
    """One page run at the door or inside."""

    def __init__(self, arrived: float) -> None:
        self.arrived = self.entered = arrived
        self.admitted = threading.Event()


class Turns:
    """The door of one process; safe for use by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._inside: set[_Visit] = set()
        self._at_door: OrderedDict[_Visit, None] = OrderedDict()
        self._closed_until = 0.0  # the end of the current slice of long work
        self._mine = threading.local()

    @contextmanager
    def page_run(self) -> Iterator[None]:
        """Enclose a page run: wait at the door while enough others are inside."""
        visit = _Visit(time.monotonic())
        with self._lock:
            self._at_door[visit] = None
            self._admit()
        while not visit.admitted.wait(_POLL_SECONDS):
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
        """Enclose long work within a page run: it does not count as inside meanwhile."""
        visit: _Visit | None = getattr(self._mine, "visit", None)
        if visit is not None:
            self._leave(visit)
        try:
            yield
        finally:
            with self._lock:
                self._closed_until = 0.0
                if visit is not None:  # it has waited enough, so it does not queue again
                    visit.entered = time.monotonic()
                    self._inside.add(visit)
                self._admit()

    def give_way(self) -> None:
        """Call between two steps of long work: let short answers pass, for `EVERY_SECONDS` at most.

        Returns at once if there are none, or within a slice; threads that share one piece of work
        share the slice.
        """
        with self._lock:
            if time.monotonic() < self._closed_until:
                return
            self._admit()
            if self._lock.wait_for(lambda: not self.page_runs, EVERY_SECONDS):
                return
            self._closed_until = time.monotonic() + EMPTYING_SECONDS + SLICE_SECONDS
            self._lock.wait_for(lambda: not self._short_inside(), EMPTYING_SECONDS)
            self._closed_until = time.monotonic() + SLICE_SECONDS

    @property
    def page_runs(self) -> int:
        """Page runs at the door, or inside and still short."""
        return len(self._at_door) + self._short_inside()

    def _short_inside(self) -> int:
        earliest = time.monotonic() - SHORT_SECONDS
        return sum(visit.entered > earliest for visit in self._inside)

    def _admit(self) -> None:
        """Admit whoever is next, while allowed; call with the lock held."""
        now = time.monotonic()
        while self._at_door:
            first = next(iter(self._at_door))
            full = self._short_inside() >= MAX_INSIDE or now < self._closed_until
            if full and now - first.arrived < MAX_WAIT_SECONDS:
                return
            del self._at_door[first]
            first.entered = now
            self._inside.add(first)
            first.admitted.set()

    def _leave(self, visit: _Visit) -> None:
        with self._lock:
            self._inside.discard(visit)
            self._admit()
            self._lock.notify_all()


class FifoQueue:
    """A queue for one kind of long work; the first in it has the turn."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tickets: list[object] = []

    def join(self) -> object:
        """A ticket at the end of the queue."""
        ticket = object()
        with self._changed:
            self._tickets.append(ticket)
        return ticket

    def ahead(self, ticket: object) -> int:
        """How many are ahead; 0 for whoever has the turn."""
        with self._changed:
            return self._tickets.index(ticket)

    def wait(self, ticket: object, seconds: float) -> bool:
        """Wait until somebody leaves, at most this long; whether it is this ticket's turn."""
        with self._changed:
            if self._tickets[0] is not ticket:
                self._changed.wait(seconds)
            return self._tickets[0] is ticket

    def leave(self, ticket: object) -> None:
        """Leave when done, or to stop waiting. Leaving twice is fine."""
        with self._changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            self._changed.notify_all()


_turns = Turns()
page_run = _turns.page_run
long_work = _turns.long_work
give_way = _turns.give_way
