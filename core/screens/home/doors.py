"""Ways on from Home; the menu has the rest."""

from __future__ import annotations

import streamlit as st

from core.ui.words.pages import find

# What one does there, by the page.
_DOORS = {
    "head_view": "Read one head",
    "heatmap": "Read the numbers",
    "vectors": "See tokens as arrows",
    "projection": "Compare two words",
    "query_key": "See queries and keys",
    "anomalies": "Find unusual heads",
    "images": "Look at images",
}
_IN_ROW = 4


def show_doors() -> None:
    """A link to each page, with the question that it answers."""
    columns = [*st.columns(_IN_ROW), *st.columns(_IN_ROW)]
    for column, (name, label) in zip(columns, _DOORS.items(), strict=False):
        page = find(name)
        with column.container(border=True, height="stretch"):
            st.page_link(page.path, label=f"**{label}**")
            st.caption(page.question)
    st.caption("All other pages are in the menu.")
