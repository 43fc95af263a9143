"""How far long work is: a bar with Cancel, moved between its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

UPDATE_SECONDS = 0.3  # between two moves of a bar; at each of them Streamlit also notices Cancel


class Bar:
    """A progress bar with words, or what else `move` draws of a share and words."""

    def __init__(self, move: Callable[[float, str], object]) -> None:
        self._move = move
        self._moved = time.perf_counter()

    def show(self, share: float, words: str) -> None:
        """Move it; a click of the visitor may end the run here."""
        self._move(min(1.0, share), words)
        self._moved = time.perf_counter()

    def step(self, share: float, words: str) -> None:
        """Call between two steps of long work: moves it now and then."""
        if time.perf_counter() - self._moved > UPDATE_SECONDS:
            self.show(share, words)


@contextmanager
def bar_with_cancel(
    key: str, on_cancel: Callable[..., None] | None = None, *arguments: object, tip: str = ""
) -> Iterator[Bar]:
    """A bar that is gone when all is done or has failed, beside a button that ends the run."""
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = Bar(st.progress(0.0).progress)
        st.button("Cancel", key=key, on_click=on_cancel, args=arguments, help=tip or None)
    try:
        yield bar
    except Exception:
        slot.empty()
        raise
    slot.empty()
