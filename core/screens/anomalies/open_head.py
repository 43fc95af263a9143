"""From a head on this page to the same head elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui import address, controls
from core.ui.navigation import go_to
from core.ui.selectors import step_through_heads

if TYPE_CHECKING:
    from core.analysis.anomalies import Row
    from core.model import Trace


def begin_with(one: Row) -> None:
    """Show this head where no one has chosen another, here or on another page."""
    if not ("head" in st.session_state or address.asks_for("head") or address.asks_for("layer")):
        st.session_state.update(layer=str(one["layer"]), head=str(one["head"]))


def pick_one_head(trace: Trace) -> tuple[int, int]:
    """Pickers for a layer and a head, and buttons to step; both from 0."""
    layer, head = controls.layer(trace, width=130), controls.head(trace, width=130)
    step_through_heads(trace)
    return layer, head


def open_buttons(layer: int, head: int) -> None:
    """Two buttons that show this head, from 1, in the head view and in query-key space."""
    where = f"L{layer} H{head}"
    pages = (("head_view", "Head view →", "lines"), ("query_key", "Queries and keys →", "clouds"))
    with st.container(horizontal=True, width="content"):
        for page, label, kind in pages:
            st.button(
                label,
                key=f"open_{layer}_{head}_{page}",
                type="tertiary",
                help=f"{where} as {kind}",
                on_click=_open,
                args=(page, layer, head),
            )


def _open(page: str, layer: int, head: int) -> None:
    """Make this the head of all pages, and ask for one of them."""
    st.session_state.update(
        {
            "layer": str(layer),
            "head": str(head),
            "heads": [head],
            "part": "picture",
            "span": "one head",
        }
    )
    go_to(page)


def show_what_moves(layer: int, head: int) -> None:
    """Show what a head, from 0, moves; for clicks."""
    _show(layer, head, "moved")


def show_lengths(layer: int, head: int) -> None:
    """Show the lengths of a head's queries and keys; for clicks."""
    _show(layer, head, "norms")


def _show(layer: int, head: int, part: str) -> None:
    st.session_state.update(layer=str(layer + 1), head=str(head + 1), anomaly=part)
