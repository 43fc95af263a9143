"""The cell that is held: in the link, in the session, and in the table that people click.

The table reports a cell that is clicked and shows it at once; only a cell from elsewhere (a link,
back and forward) is sent to it, under a new number, so that the same bytes need not travel again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.components.table import Cells
from core.ui import address, controls

if TYPE_CHECKING:
    from core.analysis.attention_table import Head, Layer
    from core.analysis.found_link import FoundLink
    from core.model import Trace

KEY = "heatmap_table"  # of the component
_CELL = "cell"  # query and key, positions from 1
_TEXT, _SENT = "_heatmap_text", "_heatmap_sent"


def cells_to_show(trace: Trace, layer: Layer, head: Head, link: FoundLink | None) -> Cells:
    """The cell held, and in the head of `link` the cell of that link if it joins two words."""
    held = _restore(trace)
    sent = st.session_state.get(_SENT, {"cell": (), "serial": 0, "shown": ()})
    mounted = (st.session_state.get(KEY) or {}).get("held") is not None
    # A table that is drawn anew, as after another page, starts from what it is sent.
    if held != sent["shown" if mounted else "cell"]:
        sent = {"cell": held, "serial": sent["serial"] + 1, "shown": held}
        st.session_state[_SENT] = sent
    found: tuple[int, ...] = ()
    if link is not None and link.joins_words and (layer, head) == (link.layer, link.head):
        found = (link.query + 1, link.key + 1)
    return Cells(held=sent["cell"], serial=sent["serial"], found=found)


def _restore(trace: Trace) -> tuple[int, ...]:
    """The cell of the link or the session; none once the text is another one."""
    state = st.session_state
    text = hash((trace.tokens, trace.source))
    if state.setdefault(_TEXT, text) != text and not address.asks_for(_CELL):
        state[_CELL] = []
    state[_TEXT] = text
    sizes = len(trace.tokens), len(trace.key_tokens)
    cell = tuple(controls.tokens(_CELL, range(1, max(sizes) + 1)))
    if len(cell) != 2 or any(place > size for place, size in zip(cell, sizes, strict=True)):
        cell = ()
    state[_CELL] = list(cell)
    return cell


def take_cell(cell: object) -> None:
    """Put the cell that the table reports into the session; ignore anything else."""
    if not isinstance(cell, list) or not all(type(place) in (int, float) for place in cell):
        return
    held = tuple(int(place) for place in cell)
    st.session_state[_CELL] = list(held)
    if (sent := st.session_state.get(_SENT)) is not None:
        st.session_state[_SENT] = {**sent, "shown": held}
