"""Streamlit searches all memory for garbage after every answer; here it learns what to skip.

torch, transformers and a model bring half a million objects that live as long as the server. To
search them takes 0.3 s with the interpreter's lock held, and finds the few hundred that one run of
a page has left. So what a full search finds in use is frozen, and later searches skip it, until a
model is dropped, or after many answers: what died frozen in a cycle, such as a session, goes then.
A search that took long has met many new objects that last, such as modules imported since: these
are frozen at once.
What is in use is never asked for (``gc.get_objects``): a list of it holds tuples that other threads
are still building, and growing one that somebody else holds is a SystemError. Every few answers
glibc's free memory goes back to the system too: 300 visitors would leave 40 MB there. A thread of
its own does that: a search may begin inside C code that counts on the interpreter's lock, and where
another thread parses Python meanwhile, as a page's run does, both end in a SystemError.

Python calls ``gc.callbacks`` before and after each search, one at a time: no lock is needed.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import gc
import time
from dataclasses import dataclass
from typing import Literal

EVERYTHING_AFTER = 100  # searches, one per answer; searching everything takes 0.3 s: 3 ms an answer
TRIM_AFTER = 2  # searches; trimming takes 20 ms without the interpreter's lock: 10 ms an answer
LONG_SECONDS = 0.02  # of the processor, for one search: as long as a page's own work
_FULL = 2  # the generation of a search of everything that is not frozen


@dataclass
class _State:
    """What the next search will be.

    Attributes
    ----------
    due : whether the next full search must cover everything.
    everything : whether the current search does.
    searches : full searches since the last one of everything.
    began : when the current search did, by the clock of its thread, in seconds.
    """

    due: bool = True
    everything: bool = False
    searches: int = 0
    began: float = 0.0


_state = _State()


def freeze_long_lived() -> None:
    """Skip long-lived objects from now on. Safe to repeat."""
    if _watch not in gc.callbacks:
        gc.callbacks.append(_watch)


def request_full_search(dropped: object = None) -> None:  # noqa: ARG001 - as caches call it
    """Let the next search cover frozen objects too, because a model was dropped."""
    _state.due = True


def _watch(phase: Literal["start", "stop"], info: dict[str, int]) -> None:
    """Run before and after each search for garbage, within that search."""
    if info["generation"] != _FULL:
        return
    if phase == "start":
        _state.everything = _state.due
        if _state.everything:
            _state.due = False
            gc.unfreeze()
        _state.began = time.thread_time()
    elif _state.everything:
        gc.freeze()
        _thread.start_new_thread(_return_free_memory, ())
        _state.searches = 0
    else:
        if time.thread_time() - _state.began > LONG_SECONDS:
            gc.freeze()
        _state.searches += 1
        if _state.searches % TRIM_AFTER == 0:
            _thread.start_new_thread(_return_free_memory, ())
        if _state.searches >= EVERYTHING_AFTER:
            _state.due = True


def _return_free_memory() -> None:
    """Return free pages between used ones to the system; glibc only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
