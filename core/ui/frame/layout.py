"""The layout of a page: style sheet, parts, a row of controls, "More", the end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.components.shell import watch_window
from core.ui import address, controls
from core.ui.frame import switch
from core.ui.words.glossary import OF_IMAGES, REFERENCES, TERMS
from core.ui.words.pages import PAGES, Page, go_to, opened

_SHEET = Path(__file__).with_name("style.css")
_DRAWER = "_drawer"
WHEN_DRAWN = "_when_page_is_drawn"  # in the session: a function that draws what may come last
_OTHER_THEME = "_other_theme"


def draw_window() -> None:
    """Load the style sheet, for what Streamlit's theme has no setting for; draws nothing."""
    st.html(_SHEET)
    _watch()


@st.fragment
def _watch() -> None:
    """A fragment that reruns when the browser reports; the address waits for the first report."""
    note = partial(st.session_state.update, {_OTHER_THEME: True})
    if watch_window(key="window", on_other_theme=note):
        st.session_state[address.WATCHED] = True
    if st.session_state.pop(_OTHER_THEME, False):
        st.rerun()  # the whole page: figures are drawn in the theme's colours
    address.write_waiting()


def shut_drawer() -> None:
    """Begin a page, with nothing drawn above its picture yet."""
    st.session_state.pop(_DRAWER, None)


def page_is_drawn() -> None:
    """Draw what waits until the page's picture is on the screen, once."""
    st.session_state.pop(WHEN_DRAWN, lambda: None)()


def drawer() -> DeltaGenerator:
    """The place for controls and examples: above the picture, or in a drawer on a phone."""
    if _DRAWER not in st.session_state:
        st.session_state[_DRAWER] = st.container(key="drawer", horizontal=True, gap="small")
    place: DeltaGenerator = st.session_state[_DRAWER]
    return place


def control_row() -> DeltaGenerator:
    """The row above the picture; what does not fit goes into :func:`more`."""
    return drawer().container(
        key="control_row", horizontal=True, vertical_alignment="bottom", gap="small"
    )


def more() -> DeltaGenerator:
    """A button in the row that opens the other controls, one below the other."""
    return st.popover("More", help="More settings of this picture")


def pick_part(**look: Any) -> str:  # noqa: ANN401 - of the control: menu, width
    """Pick which part of the page is shown, by default the first one in its record."""
    page = opened()
    return controls.choice(
        page.part_key,
        page.parts_of(switch.modality()),
        "Part",
        subject="The parts are",
        label_visibility="collapsed",
        **look,
    )


def caption_row(text: str) -> DeltaGenerator:
    """A caption on how to read the picture above (Markdown), in a row with room for a button."""
    row = st.container(horizontal=True, vertical_alignment="center")
    row.caption(text, width="stretch")
    return row


def show_end(*mathematics: str, notes: Mapping[str, str] | None = None) -> None:
    """The last line of a page: its mathematics, its sources, and its terms.

    By default the mathematics (Markdown) is the block of that name in the page's words; `notes`
    add to a term what is true of the model on screen: see :func:`_meanings`.
    """
    words = opened().words
    if not mathematics and "mathematics" in words:
        mathematics = (words("mathematics"),)
    sources = [f"- {REFERENCES[name].entry}" for name in opened().references]
    terms = [f"- **{term}**: {meaning}" for term, meaning in _meanings(notes or {}).items()]
    behind = {"Mathematics": mathematics, "References": sources, "Glossary": terms}
    with st.container(key="page_end", horizontal=True, gap="small"):
        for title, lines in behind.items():
            if lines:
                with st.popover(title, type="tertiary", width="content"):
                    st.markdown("\n\n".join(lines) if lines is mathematics else "\n".join(lines))
        _link_to_head()
    page_is_drawn()


def _meanings(notes: Mapping[str, str]) -> dict[str, str]:
    """The meanings of the page's terms, with `notes`; images have their own terms.

    Terms that are only in `notes` come last.
    """
    page = opened()
    terms = page.terms
    if switch.modality() == "image":  # patches are explained in place of tokens
        terms = (*page.image_terms, *(OF_IMAGES.get(term, term) for term in terms))
    return {
        term: " ".join(filter(None, (TERMS[term], notes.get(term))))
        for term in dict.fromkeys((*terms, *notes))
    }


def _link_to_head() -> None:
    """Links to what other pages say about the head on screen."""
    declared, state = controls.declared(), st.session_state
    layer, head = controls.place_on_screen()
    # A corpus goes through the encoder only.
    is_decoder = "attention" in declared and state["attention"] != "encoder"
    if is_decoder or not (layer.isdigit() and head.isdigit()):  # a mean is not a head
        return
    reports = [("head", each, each.head_link, each.head_report) for each in PAGES]
    if "cell" in declared and len(state["cell"]) == 2:
        reports += [("pair", each, each.pair_link, each.pair_report) for each in PAGES]
    for subject, page, link, report in reports:
        is_shown = page == opened() and all(
            state.get(key, value) == value for key, value in report.items()
        )
        if link and switch.modality() in page.reports_on and not is_shown:
            st.button(
                link.format(head=f"L{layer} H{head}"),
                key=f"open_{subject}_{page.name}",
                type="tertiary",
                help=page.question,
                on_click=_open_report,
                args=(page, head, report),
            )


def _open_report(page: Page, head: str, report: Mapping[str, str | bool]) -> None:
    controls.pick(head=head, **report)
    go_to(page.name)
