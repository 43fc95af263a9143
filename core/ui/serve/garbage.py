"""The search for garbage after every run of a page learns what to skip.

torch, transformers and a model bring half a million objects that live as long as the server. To
search them takes 0.3 s with the interpreter's lock held, and finds the few hundred that one run of
a page has left. So what a search finds in use is frozen, and later searches skip it, until a
model is dropped, or after many answers: what died frozen in a cycle, such as a session, goes then.
A search that took long has met many new objects that last, such as modules imported since: these
are frozen at once.
What is in use is never asked for (``gc.get_objects``): a list of it holds tuples that other threads
are still building, and growing one that somebody else holds is a SystemError. Nor does anything run
within searches (``gc.callbacks``): Python's own begin anywhere, also inside C code, and Python code
there lets other threads in: two that parse a page's script then end in a SystemError. So Streamlit
does not search (``runner.postScriptGC``); runs of pages do, at their end. Every few answers glibc's
free memory goes back to the system too: 300 visitors would leave 40 MB there.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

EVERYTHING_AFTER = 100  # searches, one per answer; searching everything takes 0.3 s: 3 ms an answer
TRIM_AFTER = 2  # searches; trimming takes 20 ms without the interpreter's lock: 10 ms an answer
LONG_SECONDS = 0.02  # of the processor, for one search: as long as a page's own work


@dataclass
class _State:
    """What the next search will be.

    Attributes
    ----------
    due : whether the next search must cover everything.
    searches : since the last one of everything.
    """

    due: bool = True
    searches: int = 0


_state = _State()
_lock = threading.Lock()


@contextlib.contextmanager
def search_afterwards() -> Iterator[None]:
    """Search when this block, a page's run, has ended in any way."""
    try:
        yield
    finally:
        search()


def request_full_search(dropped: object = None) -> None:  # noqa: ARG001 - as caches call it
    """Let the next search cover frozen objects too, because a model was dropped."""
    _state.due = True


def search() -> None:
    """Search once, unless another thread does."""
    if not _lock.acquire(blocking=False):
        return
    try:
        everything, began = _state.due, time.thread_time()
        if everything:
            _state.due = False
            gc.unfreeze()
        gc.collect()
        if everything or time.thread_time() - began > LONG_SECONDS:
            gc.freeze()
        _state.searches = 0 if everything else _state.searches + 1
        if _state.searches % TRIM_AFTER == 0:
            _return_free_memory()
        if _state.searches >= EVERYTHING_AFTER:
            _state.due = True
    finally:
        _lock.release()


def _return_free_memory() -> None:
    """Return free pages between used ones to the system; glibc only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
