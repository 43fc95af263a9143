"""A model that is loaded in a thread of its own, once, however many visitors wait for it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from core.model.opening.load import Stage

Loaded = TypeVar("Loaded")


class FirstLoad(Generic[Loaded]):
    """One load, and what it has come to; safe for use by any thread.

    The thread draws nothing and knows no visitor: whoever waits looks at `stage` and draws. What
    was loaded is held until :meth:`take` hands it over, and no longer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._future: Future[Loaded] | None = None
        self._wanted = threading.Event()
        self._taken: weakref.ref[Loaded] | None = None
        self.stage: Stage | None = None

    @property
    def is_ready(self) -> bool:
        """Whether nobody has to wait: it has ended, well or not, and what it gave is in use."""
        future = self._future
        if future is not None:
            return future.done()
        return self._taken is not None and self._taken() is not None

    def begin(self, load: Callable[[Callable[[Stage], None]], Loaded], delay: float = 0.0) -> None:
        """Start unless it is under way; `load` is told whom to tell each stage that it reaches.

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
        """Wait at most so long; whether it has ended, well or not, or was never under way."""
        future = self._future
        if future is not None:
            with suppress(NotYetError):
                future.exception(seconds)
        return future is None or future.done()

    def take(self) -> Loaded:
        """What was loaded, once it is there. Raises what the load raised; the next begins anew."""
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
        load: Callable[[Callable[[Stage], None]], Loaded],
        future: Future[Loaded],
        delay: float,
    ) -> None:
        self._wanted.wait(delay)
        try:
            loaded = load(self._reach)
        except BaseException as error:  # noqa: BLE001 - whoever takes it is told
            future.set_exception(error)
        else:
            future.set_result(loaded)

    def _reach(self, stage: Stage) -> None:
        self.stage = stage
