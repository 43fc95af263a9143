"""Long work that several visitors ask for at once is done once, and by another if one leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

POLL_SECONDS = 0.3  # between two looks whether a visitor who waits has left
MAX_TWINS = 2  # untrained twins alive at once, each as large as its model
Kept = TypeVar("Kept")
# Encloses the life of an untrained twin, which waits while so many others are alive.
room_for_twin = threading.BoundedSemaphore(MAX_TWINS)


@dataclass(eq=False)
class Shared(Generic[Kept]):
    """A place for what all visitors share, and the turn to fill it."""

    kept: Kept
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def turn(self, waiting: Callable[[], object]) -> Iterator[None]:
        """Enclose the work; within, look first whether another has done it.

        Whoever has the turn and fails or leaves gives it to one of those that wait. Meanwhile these
        call `waiting`, which may raise: touching a bar does when its visitor has left. It must not
        give way, as the one who works does: the door would close for each who waits.
        """
        while not self._turn.acquire(timeout=POLL_SECONDS):
            waiting()
        try:
            yield
        finally:
            self._turn.release()
