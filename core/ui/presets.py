"""Settings worth trying, above the picture of every page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.ui import controls
from core.ui.cache.session import remembered
from core.ui.frame.layout import drawer
from core.ui.words.pages import opened

_MADE = "_examples_made"


@dataclass(frozen=True)
class Preset:
    """Values for the controls, and a sentence (Markdown) that says what they show.

    Controls that `state` does not name begin anew, where the page's record says so.
    """

    title: str
    sentence: str
    state: Mapping[str, str | int | list[int]]  # a switch is a bool


def show(make: Callable[[], Sequence[Preset]], *, measured_on: Hashable | None = None) -> None:
    """Draw a row of chips; each sets the page's controls for the next run.

    They stand directly above the picture, so that one sees what they change: all behind "Try", and
    beside it those that have room in one line. `make` measures the text to find what is worth
    showing, once for what it is `measured_on`, if that is given.
    """
    page = opened().name
    presets = make() if measured_on is None else remembered(_MADE, (page, measured_on), make)
    with drawer().container(key="example_chips", horizontal=True, vertical_alignment="center"):
        with st.popover("Try", help="All examples"):
            _draw(f"{page}_preset_all", presets)
        _draw(f"{page}_preset", presets)


def _draw(key: str, presets: Sequence[Preset]) -> None:
    for index, preset in enumerate(presets):
        st.button(
            preset.title,
            key=f"{key}_{index}",
            help=preset.sentence,
            on_click=_set,
            args=(preset,),
        )


def _set(preset: Preset) -> None:
    controls.pick(**{**controls.start(), **preset.state})
