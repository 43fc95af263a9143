"""Page runs of all visitors share one server: a few at a time, and none waits for long work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_INSIDE = 4  # page runs; more would only wait for each other, and take memory meanwhile
MAX_WAIT_SECONDS = 2.0  # after this a run goes on, however many are inside
_door = threading.BoundedSemaphore(MAX_INSIDE)
_run = threading.local()  # `is_inside`: whether the run of this thread has one of the places


def _enter(seconds: float) -> None:
    _run.is_inside = _door.acquire(timeout=seconds)


def _leave() -> bool:
    """Give the place back; whether there was one."""
    was_inside = getattr(_run, "is_inside", False)
    _run.is_inside = False
    if was_inside:
        _door.release()
    return was_inside


@contextmanager
def page_run() -> Iterator[None]:
    """Enclose a page run: wait while enough others are inside."""
    _enter(MAX_WAIT_SECONDS)
    try:
        yield
    finally:
        _leave()


@contextmanager
def long_work() -> Iterator[None]:
    """Enclose long work within a page run: it does not count as inside meanwhile."""
    was_inside = _leave()
    try:
        yield
    finally:
        if was_inside:  # it has waited enough, so it does not wait again
            _enter(0)


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
