"""From a head on this page to the same head elsewhere."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.ui.place import choose_head
from core.ui.words.pages import go_to


def open_buttons(layer: int, head: int) -> None:
    """Buttons that show this head, by its numbers, as lines and as clouds."""
    pages = (
        ("head_view", "Open in Head view", "lines"),
        ("query_key", "Open in Queries and keys", "clouds"),
    )
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
    choose_head(layer, head, heads=[head], part="picture")
    go_to(page)


show_what_moves = partial(choose_head, anomaly="moved")  # for clicks on a head
