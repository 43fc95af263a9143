"""After every answer Streamlit searches all of memory for garbage; here it learns what to skip.

torch, transformers and a model bring half a million objects that stay as long as the server does.
To search them for reference cycles takes 0.3 s with the interpreter's lock held, while every other
visitor waits, and finds the few hundred objects that one run of a page has left. So what a full
search has found to be in use is frozen: the searches after it pass it over.

What is frozen may end all the same, such as a visitor's session. Most of it goes at once, by its
count of references; what is part of a cycle stays until everything is searched again. That happens
when a model has been dropped, when the searches since have come to as many objects as there are
frozen (a page's first visit brings up to 40,000), and every so often anyway. Only such a search
freezes: never is more kept by mistake than what was in use when the last one was made.

Every few answers, what glibc keeps of freed memory goes back to the system too: with visitors who
come and go it would be 40 MB by the 300th.

The whole of it is one of ``gc.callbacks``, which Python calls before and after each search. No
thread, lock or timer is needed: Python makes one search at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from dataclasses import dataclass
from typing import Literal

# Searches; there is one after every answer. One of everything takes 0.3 s: 3 ms an answer.
EVERYTHING_AGAIN = 100
# Searches. It takes 20 ms, without the interpreter's lock.
RETURN_AGAIN = 25
_FULL = 2  # the generation that stands for a search of all that is not frozen


@dataclass
class _State:
    """What the next search is to be.

    Attributes
    ----------
    due : whether the next full search is one of everything.
    everything : whether the search that runs now is.
    searches, passed : how many full ones there were since the last one of everything, and how many
        objects all of them together found to be in use.
    frozen : objects frozen by the last one of everything.
    """

    due: bool = True
    everything: bool = False
    searches: int = 0
    passed: int = 0
    frozen: int = 0


_state = _State()


def freeze_long_lived() -> None:
    """From now on, pass over what has been found to stay. Any number of calls is one."""
    if _watch not in gc.callbacks:
        gc.callbacks.append(_watch)


def request_full_search(dropped: object = None) -> None:  # noqa: ARG001 - as caches call it
    """Let the next search find what was frozen and has been dropped, as a model is."""
    _state.due = True


def _watch(phase: Literal["start", "stop"], info: dict[str, int]) -> None:
    """Before and after each search of Python for garbage; runs alone, within that search."""
    if info["generation"] != _FULL:
        return
    if phase == "start":
        _state.everything = _state.due
        if _state.everything:
            _state.due = False
            gc.unfreeze()
    elif _state.everything:
        gc.freeze()
        _return_free_memory()
        _state.searches, _state.passed, _state.frozen = 0, 0, gc.get_freeze_count()
    else:
        _state.searches += 1
        _state.passed += len(gc.get_objects(_FULL))
        if _state.searches % RETURN_AGAIN == 0:
            _return_free_memory()
        if _state.searches >= EVERYTHING_AGAIN or _state.passed > _state.frozen:
            _state.due = True


def _return_free_memory() -> None:
    """Give back whole pages of memory between what is in use; glibc only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
