"""How a page stands: one row of the controls people use, and the rest behind a button."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui.words.glossary import OF_IMAGES, TERMS

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def control_row() -> DeltaGenerator:
    """The row above the picture; what does not fit stands in :func:`more`."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def more(label: str = "More") -> DeltaGenerator:
    """A button, inside the row, behind which the other controls stand one below the other."""
    return st.popover(label, help="More settings of this picture")


def show_terms(*terms: str) -> None:
    """A row of words, each explained under the pointer or the finger; an image has its own."""
    if st.session_state.get("input") == "image":
        terms = tuple(OF_IMAGES.get(term, term) for term in terms)
    with st.container(key="term_row", horizontal=True, vertical_alignment="center"):
        st.caption("What is a …", width="content")
        for term in terms:
            st.badge(term, color="gray", help=TERMS[term])
