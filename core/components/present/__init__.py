"""A button that shows a page's picture alone, as large as the window, and the link's code."""

from __future__ import annotations

import streamlit as st

from core.components.reported_state import as_mapping
from core.components.scripts import register_component

_present = register_component("present")
_KEY, _MAX_ZOOM = "present", 8.0


def wants_code() -> bool:
    """Whether somebody has asked to see the link's code full screen."""
    return as_mapping(st.session_state.get(_KEY)).get("asked") is True


def present_zoom() -> float:
    """How many times larger everything is drawn; 1 unless a picture is presented."""
    zoom = as_mapping(st.session_state.get(_KEY)).get("zoom")
    return min(float(zoom), _MAX_ZOOM) if isinstance(zoom, int | float) and zoom > 1 else 1.0


def show_present(code: str) -> None:
    """Draw the button; P presses it, Escape leaves, and Q shows the `code` (of an image) if any.

    The browser does the rest, except for charts, which are drawn anew (:func:`present_zoom`).
    """
    ignore = lambda: None
    _present(
        key=_KEY,
        data={"code": code},
        width="content",
        on_asked_change=ignore,
        on_zoom_change=ignore,
    )
