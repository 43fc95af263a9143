"""One search of sentences at a time on this server; it ends when its visitor leaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from core.ui.serve import turns

if TYPE_CHECKING:
    from core.atlas.search.expression import Step

_SHOW_SECONDS = 0.3  # between two looks at whether the visitor is still there
_line = turns.FifoQueue()  # a search may take a processor for seconds: two would only share it


@contextmanager
def search_turn() -> Iterator[Step]:
    """Wait for a turn; gives what the search calls between its steps.

    Streamlit ends a run whose visitor has left, or asked for something else, with an exception
    wherever the run shows something: so words are shown again and again while it waits or works.
    """
    slot = st.empty()
    shown = time.perf_counter()

    def step() -> None:
        nonlocal shown
        if time.perf_counter() - shown > _SHOW_SECONDS:
            slot.caption("Searching the sentences …")
            shown = time.perf_counter()
        turns.give_way()

    ticket = _line.join()
    try:
        with turns.long_work():
            while not _line.wait(ticket, _SHOW_SECONDS):
                slot.caption(_describe_wait(_line.ahead(ticket)))
            yield step
    finally:
        _line.leave(ticket)
    slot.empty()


def _describe_wait(ahead: int) -> str:
    if ahead > 1:
        return f"{ahead} searches come before this one on this server"
    return "Another search runs on this server; this one comes next"
