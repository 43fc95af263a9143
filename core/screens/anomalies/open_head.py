"""From a head on this page to the same head elsewhere."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.ui.place import choose_head
from core.ui.words.pages import go_to


def open_button(layer: int, head: int) -> None:
    """A button that shows this head, by its numbers, as lines."""
    key = f"open_{layer}_{head}_head_view"
    st.button("Open in Head view", key=key, type="tertiary", on_click=_open, args=(layer, head))


def _open(layer: int, head: int) -> None:
    choose_head(layer, head, heads=[head])
    go_to("head_view")


show_what_moves = partial(choose_head, anomaly="moved")  # for clicks on a head
