"""The pair of tokens that is held, on each page that shows one: in the link and in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui import address, controls

if TYPE_CHECKING:
    from core.model import Trace

CELL = "cell"  # query and key, positions from 1
_TEXT = "_text_of_cell"


def held_cell(trace: Trace) -> tuple[int, ...]:
    """The pair of the link or the session; none once the text is another one."""
    state = st.session_state
    text = hash((trace.tokens, trace.source))
    if state.setdefault(_TEXT, text) != text and not address.asks_for(CELL):
        state[CELL] = []
    state[_TEXT] = text
    sizes = len(trace.tokens), len(trace.key_tokens)
    cell = tuple(controls.tokens(CELL, range(1, max(sizes) + 1)))
    if len(cell) != 2 or any(place > size for place, size in zip(cell, sizes, strict=True)):
        cell = ()
    state[CELL] = list(cell)
    return cell
