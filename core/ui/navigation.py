"""The page registry, and the guard every page calls first."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.ui import controls
from core.ui.messages import place_notices

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


@dataclass(frozen=True)
class Page:
    """One page: its file ``pages/<name>.py``, whose name is its address, and its question."""

    name: str
    title: str
    question: str

    @property
    def path(self) -> str:
        """The file, relative to app.py."""
        return f"pages/{self.name}.py"


_PICTURES = Path(__file__).parent / "pictures"
MARK = str(_PICTURES / "mark.svg")  # arcs of attention over a row of tokens
LOGO = str(_PICTURES / "logo.svg")  # the same beside the name

SECTIONS: dict[str, tuple[Page, ...]] = {
    "": (Page("home", "Headscope", "See how a transformer pays attention to your sentence."),),
    "One sentence": (
        Page("heatmap", "Heatmap table", "How much does each token attend to each other token?"),
        Page("vectors", "Vector grid", "Which tokens attend in the same way, layer by layer?"),
        Page("projection", "Projection", "At which layer does one token point along another?"),
        Page(
            "query_key",
            "Queries and keys",
            "Are queries near the keys they attend to, and can they be moved closer?",
        ),
        Page("head_view", "Head view", "Which tokens does each head link, and how strongly?"),
        Page("model_view", "Model view", "What do all heads of all layers do with this text?"),
        Page("neuron_view", "Neuron view", "Which dimensions make one token attend to another?"),
    ),
    "Heads": (
        Page("patterns", "Head patterns", "Which heads follow a pattern, and how reliably?"),
        Page(
            "anomalies",
            "Anomaly views",
            "Which heads are odd, how, and does their attention move anything at all?",
        ),
    ),
    "A corpus": (
        Page("atlas", "Atlas", "What do queries and keys of every head look like over a corpus?"),
    ),
}
PAGES = tuple(page for pages in SECTIONS.values() for page in pages)

_GO_TO = "_page_to_open"
_app_is_running: ContextVar[bool] = ContextVar("headscope_app_is_running", default=False)


def find(name: str) -> Page:
    """The page of that name. Raises KeyError for a name that is not registered."""
    return {page.name: page for page in PAGES}[name]


def register_pages() -> StreamlitPage:
    """Register the pages by section; returns the one the address asks for.

    Streamlit drops the name from its default page's address, so a link to ``/home`` would fail; a
    hidden default page that leads there keeps every page's file name its address.
    """
    front_door = st.Page(_go_home, title="Headscope", default=True, visibility="hidden")
    menu = {section: [_menu_entry(page) for page in pages] for section, pages in SECTIONS.items()}
    menu[""].insert(0, front_door)
    return st.navigation(menu)


def _menu_entry(page: Page) -> StreamlitPage:
    title = "Home" if page.name == "home" else page.title
    return st.Page(page.path, title=title, help=page.question)


def _go_home() -> None:
    st.switch_page(find("home").path)


def run(page: StreamlitPage) -> None:
    """Run the page inside app.py, then write its controls to the address."""
    token = _app_is_running.set(True)
    try:
        page.run()
    finally:
        _app_is_running.reset(token)
    controls.publish()


def go_to(name: str) -> None:
    """Open that page before the next run draws anything; for callbacks, which cannot switch."""
    st.session_state[_GO_TO] = name


def open_page(name: str) -> None:
    """First line of every page: make sure that app.py runs it, then draw title and question.

    On a cold server Streamlit's older automatic discovery of ``pages/`` runs a page opened by its
    own link without app.py. Registering the navigation ends that; the rerun goes through app.py.
    """
    if not _app_is_running.get():
        register_pages()
        st.rerun()
    if (asked := st.session_state.pop(_GO_TO, name)) != name:
        st.switch_page(find(asked).path)
    page = find(name)
    st.set_page_config(page_title=page.title if name == "home" else f"{page.title} · Headscope")
    st.title(page.title, anchor=False)
    st.markdown(page.question)
    place_notices()
