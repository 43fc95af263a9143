"""The first row of a page of a corpus: a place for its search, instead of a text or an image."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_SLOT = "_place_of_search"


def draw() -> DeltaGenerator:
    """Draw and return the row; the page fills the :func:`place` in it."""
    row = st.container(key="typed_row", horizontal=True, vertical_alignment="center", gap="small")
    with row:
        st.session_state[_SLOT] = st.container(horizontal=True, width="stretch")
    return row


def place() -> DeltaGenerator:
    """Where the page draws its search."""
    slot: DeltaGenerator = st.session_state[_SLOT]
    return slot
