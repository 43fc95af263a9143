"""Four ways on from Home; the menu has the rest."""

from __future__ import annotations

import streamlit as st

from core.ui.words.pages import find

# What one does there, by the page.
_DOORS = {
    "head_view": "Read one head",
    "model_view": "See all heads",
    "neuron_view": "Do the arithmetic",
    "images": "Look at images",
}


def show_doors() -> None:
    """A link to each page, with the question that it answers."""
    for column, (name, label) in zip(st.columns(len(_DOORS)), _DOORS.items(), strict=True):
        page = find(name)
        with column.container(border=True, height="stretch"):
            st.page_link(page.path, label=f"**{label}**")
            st.caption(page.question)
    st.caption("All other pages are in the menu.")
