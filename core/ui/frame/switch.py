"""Text or image: one switch for all pages, which keeps the model that each of the two had."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import streamlit as st

from core.ui import address, controls, navigation
from core.ui.site.access import access, default_model

if TYPE_CHECKING:
    from core.model.catalog import Reads
    from core.ui.words.pages import Page

KEY = "input"
_NAMES: dict[Reads, str] = {"text": "Text", "image": "Image"}
_BEFORE, _MODELS, _PAGE = "_input_before", "_model_of_input", "_page_of_input"


def reads() -> Reads:
    """What this run shows the attention of."""
    return cast("Reads", st.session_state[KEY])


def draw(page: Page) -> None:
    """Decide what this run shows, and draw the switch at the top of the sidebar.

    A page for images alone shows an image, however it was opened.
    """
    offered = [each for each in _NAMES if offers(each)]
    state = st.session_state
    has_moved = state.get(_PAGE) != page.name
    state[_PAGE] = page.name
    if has_moved and page.reads == ("image",) and "image" in offered:
        address.take(KEY)
        state[KEY] = "image"
    options = {each: _NAMES[each] for each in offered or ["text"]}
    with st.sidebar:
        controls.choice(
            KEY,
            options,
            "Show attention in a",
            subject="Attention is shown in a",
            optional=True,
            on_change=_leave,
        )
    _change_model(reads())


def _leave() -> None:
    """From a page for images alone back to a text, on the page that comes nearest."""
    page = navigation.find(st.session_state[_PAGE])
    if page.reads == ("image",) and st.session_state[KEY] == "text":
        navigation.go_to(page.instead)


def _change_model(now: Reads) -> None:
    """Remember the model of the other kind, and bring back that of this one."""
    state = st.session_state
    before = state.get(_BEFORE, now)
    if before != now:
        models = state.setdefault(_MODELS, {})
        models[before] = state.get("model")
        state["model"] = models.get(now) or default_model(now)
    state[_BEFORE] = now


def offers(each: Reads) -> bool:
    """Whether this site offers this visitor a model that reads it."""
    granted = access(each)
    return bool(granted.names) or granted.free_text


def show_image() -> None:
    """Show an image from the next run on; for callbacks."""
    st.session_state[KEY] = "image"


def show_text() -> None:
    """Show a text from the next run on; for callbacks."""
    st.session_state[KEY] = "text"
