"""Opening pages, and the guard that every page calls first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from functools import cache
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.model.errors import ModelError
from core.ui import address, controls
from core.ui.address import share
from core.ui.cache import first_model
from core.ui.frame import switch
from core.ui.frame.layout import page_is_drawn, shut_drawer
from core.ui.words.messages import notice, place_notices
from core.ui.words.numbers import in_a_row
from core.ui.words.pages import (
    GO_TO,
    JOINED,
    OPENED,
    PAGES,
    SECTIONS,
    Page,
    find_page,
    go_to,
    note_opened,
)
from core.ui.words.prose import Prose

_PICTURES = Path(__file__).parent / "pictures"
MARK = str(_PICTURES / "mark.svg")  # arcs of attention over a row of tokens
LOGO = str(_PICTURES / "logo.svg")  # the same, with the name

_QUESTION = "_question"  # the slot for the question beside the title
_COMPARE = find_page("compare")
MIN_TOKENS = 50  # of a text; with fewer, a finding may not hold on the next text
_app_is_running: ContextVar[bool] = ContextVar("headscope_app_is_running", default=False)


def configure() -> None:
    """Set the layout of every page."""
    st.set_page_config(
        page_title="Headscope", page_icon=MARK, layout="wide", initial_sidebar_state=220
    )


def register_pages(instead: Callable[[StreamlitPage], str] = lambda _: "") -> StreamlitPage:
    """Register the pages by section; returns the one of this run.

    That is the one the address asks for, unless `instead`, which gets it, names another: after
    ``st.switch_page`` all of app.py would run a second time.

    Streamlit drops the name from its default page's address, so a link to ``/home`` would fail; a
    hidden default page in whose place Home is opened keeps every page's file name its address.
    """
    menu = {section: list(map(copy, pages)) for section, pages in _menu().items()}
    st.set_option("client.showSidebarNavigation", value=True)  # see .streamlit/config.toml
    page = st.navigation(menu, expanded=True)  # else the last pages are hidden behind a button
    name = instead(page) or ("" if page.url_path else "home")
    if name and (context := get_script_run_ctx()) is not None:
        st.query_params.clear()  # Back then comes to the page that was asked for, and stays there
        context.pages_manager.set_script_intent("", name)
        page = st.navigation(menu, expanded=True)
    return page


@cache
def _menu() -> dict[str, list[StreamlitPage]]:
    """All pages by section, made once: Streamlit resolves the path of each."""
    front_door = st.Page(lambda: None, title="Headscope", default=True, visibility="hidden")
    joined = [st.Page(f"pages/{name}.py", visibility="hidden") for name in JOINED]
    menu = {
        section: [st.Page(page.path, title=page.in_menu, help=page.question) for page in pages]
        for section, pages in SECTIONS.items()
    }
    return menu | {"": [front_door, *joined, *menu[""]]}


def _compare() -> None:
    """Open the comparison with the text, the pinned pair, and the head if one alone is shown."""
    place = {key: st.session_state.get(key, "") for key in ("layer", "head")}
    if all(map(str.isdigit, place.values())):
        controls.pick(**place)
    go_to(_COMPARE.name)


def requested_page(page: StreamlitPage) -> Page:
    """The page that this run will show, before it is opened.

    A link to a page that was merged into another is read as a link to that one.
    """
    if page.url_path in JOINED:
        now, before = JOINED[page.url_path], st.session_state.get(OPENED)
        if address.is_read_now() or before != now.name:
            address.translate(**now.joined[page.url_path])
        go_to(now.name)
    name = st.session_state.get(GO_TO) or page.url_path
    requested = find_page(name if name in {each.name for each in PAGES} else "home")
    if address.is_read_now() and not any(map(address.asks_for, ("text", "model_b"))):
        address.translate(requested.opens, {})
    return requested


def run_page(page: StreamlitPage) -> None:
    """Run the page inside app.py, write its controls to the address, draw what needed a model."""
    token = _app_is_running.set(True)
    try:
        try:
            with suppress(controls.PageEnd):
                page.run()
        except ModelError as error:
            if not first_model.is_awaited():
                raise
            first_model.fail(error)  # the model is the one that the page was drawn without
        controls.publish()
        page_is_drawn()
    finally:
        _app_is_running.reset(token)
    first_model.finish_page()


def redirect_to(name: str) -> NoReturn:
    """Open that page at once, as :func:`go_to` does from a callback."""
    go_to(name)
    st.switch_page(find_page(name).path)


def opened_by_button() -> bool:
    """Whether this run's page was opened by a button on a page, not by the menu or a link."""
    return GO_TO in st.session_state


def set_headline(answer: str, first: str = "", *, tokens: int = MIN_TOKENS) -> None:
    """Replace the page's question by another one, or by the answer (Markdown).

    `first` is what to do first, in grey; few measured `tokens` are marked as only a hint.
    """
    hint = f"{tokens} tokens: a hint." if tokens < MIN_TOKENS else ""
    grey = f":gray[{first}]" if first else ""
    st.session_state[_QUESTION].markdown(" ".join(filter(None, (answer, hint, grey))))


def open_page(name: str) -> Prose:
    """First line of every page: make sure that app.py runs it, then draw title and question.

    Returns the page's words.

    On a cold server Streamlit's older automatic discovery of ``pages/`` runs a page opened by its
    own link without app.py. Registering the navigation ends that; the rerun goes through app.py.
    """
    if not _app_is_running.get():
        configure()  # the sidebar keeps the width of the first run
        register_pages()
        st.rerun()
    if (target := st.session_state.pop(GO_TO, name)) != name:
        st.switch_page(find_page(target).path)
    first_model.start_page()
    page = find_page(name)
    note_opened(page)
    st.set_page_config(page_title=page.title if name == "home" else f"{page.title} · Headscope")
    with st.container(key="page_title", horizontal=True, vertical_alignment="center"):
        st.title(page.title, anchor=False, width="content")
        slot = st.session_state[_QUESTION] = st.empty()
        slot.markdown(page.question)
        switch.offer_other_pages(page, go_to)
        if page.compares and switch.modality() == "text":
            st.button("Compare", key="open_compare", help=_COMPARE.question, on_click=_compare)
        share.place_share(name)
    place_notices()
    if gone := address.take_gone(page.gone):
        notice(f"This link asks for {in_a_row(gone)}, which this page no longer has.")
    shut_drawer()
    return page.words
