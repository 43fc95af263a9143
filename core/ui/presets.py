"""Settings worth trying, above the picture of every page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.ui import controls
from core.ui.cache.session import remembered
from core.ui.current import current_key
from core.ui.examples import FIND
from core.ui.frame.layout import drawer
from core.ui.words.pages import opened
from core.ui.words.pattern_words import words_for

if TYPE_CHECKING:
    from core.model import Trace

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


def show_for(trace: Trace) -> None:
    """Draw the examples of the page's record, with what they find on this text or image."""
    show(partial(_of_record, trace), measured_on=current_key(trace.model))


def _of_record(trace: Trace) -> list[Preset]:
    """Those that can be shown, in their order."""
    labels, rest = trace.layer_labels, words_for(trace)["delimiter"].where
    of_text = {"input": trace.input, "rest": rest, "first": labels[0], "last": labels[-1]}
    presets = []
    for example in opened().examples:
        if trace.input.kind not in example.get("kinds", (trace.input.kind,)):
            continue
        found = FIND[example.get("find", "nothing")](trace)
        own, needed = example.get("state", {}), example.get("need")
        if found is None or (needed and own[needed] not in controls.declared()[needed].allowed):
            continue
        fields = {**of_text, "heads": trace.shape[1], **found}
        title, sentence = (example[each].format(**fields) for each in ("title", "sentence"))
        place = {key: str(found[key]) for key in ("layer", "head") if key in found}
        state = place | {key: _filled(value, fields) for key, value in own.items()}
        presets.append(Preset(title[0].upper() + title[1:], sentence, state))
    return presets


def _filled(value: Any, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of a control
    """A setting with what was found in it; in a list stand the numbers of tokens or heads."""
    if isinstance(value, list):
        return [int(_filled(each, fields)) for each in value]
    return value.format(**fields) if isinstance(value, str) else value


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
