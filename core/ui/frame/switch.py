"""Text or image: which one a page shows the attention of, and how to switch between them.

A page opens with what its section is for. A button keeps the image: that of "Same view of this
image", or one that opens a head on another page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import streamlit as st

from core.ui import controls
from core.ui.serve.access import access, first_offered
from core.ui.words.pages import PAGES, Page, find_page
from core.vocabulary import Modality

KEY = "input"
_READS: tuple[Modality, ...] = ("text", "image")
_SAME_VIEW = "same_view"
_PAGE, _BEFORE, _PLACES = "_page_of_input", "_input_before", "_place_of_input"
_PLACE = ("model", "layer", "head", "heads")  # controls with separate values for texts and images


def modality() -> Modality:
    """Whether this run shows the attention of a text or an image."""
    return cast("Modality", st.session_state[KEY])


def decide(page: Page, *, by_button: bool) -> None:
    """Decide what this run shows: what the link asks for, else what the page is for.

    If a button led to the page, it is what was shown before, provided the page can show it.
    """
    state = st.session_state
    if state.get(_PAGE) != page.name and not by_button:
        state.pop(KEY, None)
    state[_PAGE] = page.name
    offered = list(filter(offers, _READS)) or ["text"]
    possible = [each for each in page.modalities if each in offered]
    controls.choice(KEY, possible or offered, subject="This page shows", optional=True)
    _change_place(modality())


def offers(each: Modality) -> bool:
    """Whether this site offers this visitor a model that reads this modality."""
    granted = access(each)
    return bool(granted.names) or granted.free_text


def show(each: Modality) -> None:
    """Show a text, or an image, from the next run on; for callbacks."""
    st.session_state[KEY] = each


def offer_other_pages(page: Page, on_open: Callable[[str], None]) -> None:
    """Buttons that show the image on another page for both, or go back to a text on this one."""
    if modality() != "image":  # a text is in its field on every page anyway
        return
    if "text" in page.modalities and offers("text"):
        st.button("Text instead", key="show_text_instead", on_click=show, args=("text",))
    st.menu_button(
        "Same view of this image",
        [each.name for each in PAGES if len(each.modalities) > 1 and each != page],
        format_func=lambda name: find_page(name).title,
        key=_SAME_VIEW,
        help="This image, layer and head on a page that shows sentences too",
        on_click=lambda: on_open(st.session_state[_SAME_VIEW]),
    )


def _change_place(now: Modality) -> None:
    """Restore the model, the layer and the heads of the last text, or of the last image."""
    state = st.session_state
    before = state.get(_BEFORE, now)
    if before != now:
        places = state.setdefault(_PLACES, {})
        places[before] = {key: state[key] for key in _PLACE if key in state}
        for key in _PLACE:
            state.pop(key, None)
        state.update({"model": first_offered(now)} | places.get(now, {}))
    state[_BEFORE] = now
