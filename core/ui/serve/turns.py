"""Page runs of all visitors share one server: a few at a time, and none waits for long work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_INSIDE = 4  # page runs; more would only wait for each other, and take memory meanwhile
MAX_WAIT_SECONDS = 2.0  # after this a run goes on, however many are inside
_door = threading.BoundedSemaphore(MAX_INSIDE)
_run = threading.local()  # `is_inside`: whether the run of this thread has one of the places


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
    _run.is_inside = _door.acquire(timeout=MAX_WAIT_SECONDS)
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
            _run.is_inside = _door.acquire(blocking=False)
