"""Long work: few page runs at a time, progress with Cancel, and results shared by visitors."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import streamlit as st

if TYPE_CHECKING:
    from core.model.opening.load import Phase

MAX_INSIDE = 4  # page runs; more would only wait for each other, and take up memory
MAX_WAIT_SECONDS = 2.0  # after this a run starts, however many are inside
_door = threading.BoundedSemaphore(MAX_INSIDE)
_run = threading.local()  # `is_inside`: whether this thread's run holds one of the places


def _leave() -> bool:
    """Release the place; returns whether there was one."""
    was_inside = getattr(_run, "is_inside", False)
    _run.is_inside = False
    if was_inside:
        _door.release()
    return was_inside


@contextmanager
def page_run() -> Iterator[None]:
    """A context for a page run, which waits while enough others are inside."""
    _run.is_inside = _door.acquire(timeout=MAX_WAIT_SECONDS)
    try:
        yield
    finally:
        _leave()


@contextmanager
def long_work() -> Iterator[None]:
    """A context for long work in a page run, which does not count as inside meanwhile."""
    was_inside = _leave()
    try:
        yield
    finally:
        if was_inside:  # without waiting: it has waited enough
            _run.is_inside = _door.acquire(blocking=False)


POLL_SECONDS = 0.3  # between checks whether a waiting visitor has left
MAX_TWINS = 2  # untrained twins alive at once, each as large as its model
Value = TypeVar("Value")
# Held during the life of an untrained twin, which waits while so many others are alive.
room_for_twin = threading.BoundedSemaphore(MAX_TWINS)


@dataclass(eq=False)
class Shared(Generic[Value]):
    """A slot for what all visitors share, and the turn to fill it."""

    kept: Value
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def turn(self, waiting: Callable[[], object]) -> Iterator[None]:
        """A context for the work; inside it, first check whether someone else has done it.

        A run that fails or leaves passes the turn to one of the waiting runs. These call `waiting`,
        which may raise: updating a bar does when its visitor has left. It must not enter
        `long_work`, as the working run does: `_door` would close for every run that waits.
        """
        while not self._turn.acquire(timeout=POLL_SECONDS):
            waiting()
        try:
            yield
        finally:
            self._turn.release()


UPDATE_SECONDS = 0.3  # between updates of a bar; at each one Streamlit also notices Cancel


class ProgressBar:
    """A progress bar with words, or whatever `move` draws from a share and words."""

    def __init__(self, move: Callable[[float, str], object]) -> None:
        self._move = move
        self._moved = time.perf_counter()

    def show(self, share: float, words: str) -> None:
        """Update the bar; a click by the visitor may end the run here."""
        self._move(min(1.0, share), words)
        self._moved = time.perf_counter()

    def step(self, share: float, words: str) -> None:
        """Call after each step of long work: updates the bar now and then."""
        if time.perf_counter() - self._moved > UPDATE_SECONDS:
            self.show(share, words)


@contextmanager
def bar_with_cancel(
    key: str, on_cancel: Callable[[], None] | None = None, tip: str = ""
) -> Iterator[ProgressBar]:
    """A progress bar beside a Cancel button, removed when the work is done or has failed."""
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = ProgressBar(st.progress(0.0).progress)
        st.button("Cancel", key=key, on_click=on_cancel, help=tip or None)
    try:
        yield bar
    except Exception:
        slot.empty()
        raise
    slot.empty()


Loaded = TypeVar("Loaded")


class FirstLoad(Generic[Loaded]):
    """One load and its progress; safe to use from any thread.

    Its thread draws nothing and knows no visitor: waiting runs read `stage` and draw. The result is
    held only until :meth:`take` hands it over.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._future: Future[Loaded] | None = None
        self._wanted = threading.Event()
        self._taken: weakref.ref[Loaded] | None = None
        self.stage: Phase | None = None

    @property
    def is_ready(self) -> bool:
        """Whether nobody has to wait: it has succeeded or failed, or its result is in use."""
        future = self._future
        if future is not None:
            return future.done()
        return self._taken is not None and self._taken() is not None

    def begin(self, load: Callable[[Callable[[Phase], None]], Loaded], delay: float = 0.0) -> None:
        """Start unless it is running; `load` gets a function to report each stage to.

        It begins after `delay` seconds, or sooner when another call asks for less.
        """
        with self._lock:
            if not delay:
                self._wanted.set()
            if self._future is not None:
                return
            if delay:
                self._wanted.clear()
            self._future, self.stage = Future(), None
            arguments = (load, self._future, delay)
            threading.Thread(
                target=self._run, args=arguments, name="first load", daemon=True
            ).start()

    def wait(self, seconds: float) -> bool:
        """Wait at most this long; whether it has succeeded or failed, or was never started."""
        future = self._future
        if future is not None:
            with suppress(NotYetError):
                future.exception(seconds)
        return future is None or future.done()

    def take(self) -> Loaded:
        """Wait for and return the result, or raise the load's error; the next load is a new one."""
        future = self._future
        if future is None:
            raise RuntimeError("nothing is being loaded")
        self._wanted.set()
        try:
            loaded = future.result()
            self._taken = weakref.ref(loaded)
        finally:
            with self._lock:
                self._future = None
        return loaded

    def _run(
        self,
        load: Callable[[Callable[[Phase], None]], Loaded],
        future: Future[Loaded],
        delay: float,
    ) -> None:
        self._wanted.wait(delay)
        try:
            loaded = load(self._reach)
        except BaseException as error:  # noqa: BLE001 - `take` raises it
            future.set_exception(error)
        else:
            future.set_result(loaded)

    def _reach(self, stage: Phase) -> None:
        self.stage = stage
