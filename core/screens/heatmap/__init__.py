"""The heatmap's pinned cell: in the link, in the session, and in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.attention_table import AnyHead, AnyLayer
from core.analysis.strongest_link import FoundLink
from core.components.reported_state import changes, state_to_send
from core.components.table import Cells
from core.ui.place import CELL, pinned_pair

if TYPE_CHECKING:
    from core.model import Trace

KEY = "heatmap_table"  # the component's


def cells_to_show(trace: Trace, layer: AnyLayer, head: AnyHead, link: FoundLink | None) -> Cells:
    """The pinned cell and, if this head is the one of `link` and it joins two words, its cell."""
    sent, serial = state_to_send(KEY, {"held": pinned_pair(trace)})
    cell: tuple[int, ...] = ()
    if link is not None and link.joins_words and (layer, head) == (link.layer, link.head):
        cell = (link.query + 1, link.key + 1)
    return Cells(held=sent["held"], serial=serial, found=cell)


def take_cell(held: tuple[int, ...]) -> None:
    """Store the cell that the table reports in the session."""
    if changes(KEY, {"held": held}):
        st.session_state[CELL] = list(held)
