"""The cards of the lessons, each with its beginning and its sheet for the teacher."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.screens.lessons.sheet import sheet_of
from core.ui.address.share import link_to
from core.ui.downloads import Contents, offer_file
from core.ui.lessons.record import Lesson, lessons
from core.ui.lessons.running import open_step
from core.ui.words.prose import Prose

_words = Prose(__file__)
_IN_ROW = 3


def show_cards() -> None:
    """Draw a card for each lesson: what it is, how long it takes, what one can do afterwards."""
    columns: list[st.delta_generator.DeltaGenerator] = []
    for lesson in lessons():
        columns = columns or st.columns(_IN_ROW)
        with columns.pop(0).container(border=True, height="stretch"):
            _draw_card(lesson)
    st.caption(_words("privacy"))


def _draw_card(lesson: Lesson) -> None:
    st.markdown(f"**{lesson.order} · {lesson.title}** :gray[{lesson.minutes}\N{NO-BREAK SPACE}min]")
    st.markdown(lesson.words("can"))
    with st.container(horizontal=True):
        st.button(
            "Begin",
            key=f"begin_{lesson.name}",
            type="primary",
            on_click=open_step,
            args=(lesson.name, 1),
        )
        offer_file(
            "Sheet for the teacher",
            partial(sheet_of, lesson.name, link_to("lessons", {}).rstrip("?")),
            Contents(f"lesson-{lesson.order}-{lesson.name}", {}),
            ".html",
            help=_words("sheet"),
            type="tertiary",
        )
