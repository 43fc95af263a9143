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
    section: str
    menu_title: str = ""

    @property
    def path(self) -> str:
        """The file, relative to app.py."""
        return f"pages/{self.name}.py"


_PICTURES = Path(__file__).parent / "pictures"
MARK = str(_PICTURES / "mark.svg")  # arcs of attention over a row of tokens
LOGO = str(_PICTURES / "logo.svg")  # the same beside the name

PAGES: tuple[Page, ...] = (
    Page(
        "home",
        "Headscope",
        "See how a transformer pays attention to your sentence.",
        section="",
        menu_title="Home",
    ),
    Page(
        "heatmap",
        "Heatmap table",
        "How much does each token attend to each other token?",
        "One sentence",
    ),
    Page(
        "vectors",
        "Vector grid",
        "Which tokens attend in the same way, layer by layer?",
        "One sentence",
    ),
    Page(
        "projection",
        "Projection",
        'At which layer does one token point along another, as "it" along "book"?',
        "One sentence",
    ),
    Page(
        "query_key",
        "Queries and keys",
        "Do queries lie near the keys they attend to, and can they be brought nearer?",
        "One sentence",
    ),
    Page(
        "head_view",
        "Head view",
        "Which tokens does each head of a layer join, and how strongly?",
        "One sentence",
    ),
    Page(
        "model_view",
        "Model view",
        "What do all heads of all layers do with this text, at one glance?",
        "One sentence",
    ),
    Page(
        "neuron_view",
        "Neuron view",
        "Which dimensions of a query and a key make a token attend to another?",
        "One sentence",
    ),
    Page(
        "patterns",
        "Head patterns",
        "Which heads follow a pattern, such as looking back by one, and how surely?",
        "Heads",
    ),
    Page(
        "anomalies",
        "Anomaly views",
        "Which heads are odd, in what way, and does their attention move anything at all?",
        "Heads",
    ),
    Page(
        "atlas",
        "Atlas",
        "What do all queries and keys of every head look like over a whole corpus?",
        "A corpus",
    ),
)

_GO_TO = "_page_to_open"
_app_is_running: ContextVar[bool] = ContextVar("headscope_app_is_running", default=False)


def find(name: str) -> Page:
    """The page of that name. Raises KeyError for a name that is not registered."""
    pages = {page.name: page for page in PAGES}
    return pages[name]


def register_pages() -> StreamlitPage:
    """Tell Streamlit the pages by section; returns the one the address asks for.

    Streamlit takes the name out of its default page's address, so that a link to ``/home`` would
    fail; a hidden default page that leads there keeps every page's file name its address.
    """
    front_door = st.Page(_go_home, title="Headscope", default=True, visibility="hidden")
    sections: dict[str, list[StreamlitPage]] = {"": [front_door]}
    for page in PAGES:
        sections.setdefault(page.section, []).append(
            st.Page(page.path, title=page.menu_title or page.title, help=page.question)
        )
    return st.navigation(sections)


def _go_home() -> None:
    st.switch_page(find("home").path)


def run(page: StreamlitPage) -> None:
    """Run the page inside app.py; its controls are in the address when it has ended."""
    token = _app_is_running.set(True)
    try:
        page.run()
    finally:
        _app_is_running.reset(token)
    controls.publish()


def go_to(name: str) -> None:
    """Leave for that page before anything else is drawn; for callbacks, which cannot switch."""
    st.session_state[_GO_TO] = name


def open_page(name: str) -> None:
    """First line of every page: make sure that app.py runs around it, then title and question.

    On a cold server Streamlit takes ``pages/`` for its older automatic discovery and runs a page
    that is opened by its own link without app.py. Registering the navigation ends that; the rerun
    then goes through app.py.
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
