"""From a head on this page to the same head elsewhere."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from core.ui import address, controls
from core.ui.navigation import go_to
from core.ui.selectors import step_through_heads

if TYPE_CHECKING:
    from core.analysis.anomalies import Row
    from core.model import Trace


def begin_with(row: Row) -> None:
    """Show this head unless another was chosen, here or on another page."""
    if not ("head" in st.session_state or address.asks_for("head") or address.asks_for("layer")):
        st.session_state.update(layer=str(row["layer"]), head=str(row["head"]))


def pick_one_head(trace: Trace) -> tuple[int, int]:
    """Pickers for a layer and a head, and buttons to step; both from 0."""
    layer, head = controls.layer(trace, width=130), controls.head(trace, width=130)
    step_through_heads(trace)
    return layer, head


def open_buttons(layer: int, head: int) -> None:
    """Two buttons that show this head, from 1, in the head view and in query-key space."""
    pages = (("head_view", "Head view →", "lines"), ("query_key", "Queries and keys →", "clouds"))
    with st.container(horizontal=True, width="content"):
        for page, label, kind in pages:
            st.button(
                label,
                key=f"open_{layer}_{head}_{page}",
                type="tertiary",
                help=f"L{layer} H{head} as {kind}",
                on_click=_open,
                args=(page, layer, head),
            )


def _open(page: str, layer: int, head: int) -> None:
    """Choose this head on all pages, and go to one of them."""
    st.session_state.update(layer=str(layer), head=str(head), heads=[head])
    st.session_state.update(part="picture", span="one head")
    go_to(page)


def _show(layer: int, head: int, part: str) -> None:
    st.session_state.update(layer=str(layer + 1), head=str(head + 1), anomaly=part)


# For clicks on a head, with layer and head from 0: what it moves, and its lengths.
show_what_moves = partial(_show, part="moved")
show_lengths = partial(_show, part="norms")
