"""The expander "Try this": buttons that set a page's controls, each with what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Preset:
    """A setting of the controls and a sentence (Markdown) that says what it shows."""

    title: str
    sentence: str
    state: Mapping[str, str | bool | list[int]]


def show(page: str, make: Callable[[], Sequence[Preset]]) -> None:
    """Draw the expander; a button sets the state of the page's widgets before the next run.

    `make` measures the text to find what is worth showing: it is called only while the expander
    is open.
    """
    expander = st.expander("Try this", key=f"{page}_presets", on_change="rerun")
    if not expander.open:
        return
    with expander:
        for index, preset in enumerate(make()):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    preset.title,
                    key=f"{page}_preset_{index}",
                    on_click=st.session_state.update,
                    kwargs=dict(preset.state),
                    width=250,
                )
                st.markdown(preset.sentence, width="stretch")
