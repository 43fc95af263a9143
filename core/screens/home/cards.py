"""A card for each page, with the question it answers."""

from __future__ import annotations

import streamlit as st

from core.ui.navigation import PAGES


def show_cards() -> None:
    """One card a page, in a grid that wraps."""
    cards = [page for page in PAGES if page.name != "home"]
    with st.container(horizontal=True):
        for page in cards:
            with st.container(border=True, width=320):
                st.page_link(page.path, label=f"**{page.title}**")
                st.markdown(page.question)
