"""The browser's window: its style sheets, and what is watched there."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.components.shell import watch_window
from core.ui import address

_SHEETS = sorted((Path(__file__).parents[1] / "style").glob("*.css"))
_OTHER_THEME = "_other_theme"


def draw() -> None:
    """Load the style sheets, for what Streamlit's theme has no setting for; draws nothing."""
    for sheet in _SHEETS:
        st.html(sheet)
    _watch()


@st.fragment
def _watch() -> None:
    """Runs again by itself when the browser reports; the address waits for its first report."""
    if watch_window(key="window", on_other_theme=_note_other_theme):
        address.window_is_watched()
    if st.session_state.pop(_OTHER_THEME, False):
        st.rerun()  # the whole page: figures are drawn in the theme's colours
    address.write_waiting()


def _note_other_theme() -> None:
    st.session_state[_OTHER_THEME] = True
