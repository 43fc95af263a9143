"""The expanders below every page: settings worth trying, and the mathematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Preset:
    """Values for the controls, and a sentence (Markdown) that says what they show."""

    title: str
    sentence: str
    state: Mapping[str, str | bool | list[int]]


def show(page: str, make: Callable[[], Sequence[Preset]]) -> None:
    """Draw the expander; its buttons set the page's controls for the next run.

    `make` measures the text to find what is worth showing, so it is called only while the expander
    is open.
    """
    expander = st.expander("Try this", key=f"{page}_presets", on_change="rerun")
    if not expander.open:
        return
    for index, preset in enumerate(make()):
        with expander, st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                preset.title,
                key=f"{page}_preset_{index}",
                on_click=st.session_state.update,
                kwargs=dict(preset.state),
                width=250,
            )
            st.markdown(preset.sentence, width="stretch")


def show_mathematics(*paragraphs: str, title: str = "The mathematics") -> None:
    """The definitions (Markdown), and where they come from."""
    with st.expander(title):
        for paragraph in paragraphs:
            st.markdown(paragraph)
