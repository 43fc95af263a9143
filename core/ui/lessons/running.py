"""The lesson of this session: its step, the strip above the page, and going from step to step.

Lesson and step are controls of the frame, ``lesson=heads&step=3`` in links. Guesses stay in the
browser.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.model.trace import kept
from core.ui import address, controls
from core.ui.current import WHEN_TRACED, current_key
from core.ui.frame import switch
from core.ui.frame.layout import WHEN_DRAWN
from core.ui.lessons.record import Lesson, Step, names, read_lesson
from core.ui.words.pages import GO_TO, go_to, opened

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from core.model.trace import Trace
    from core.ui.lessons.answers import Place

_PAGE = "lessons"  # the page of all lessons
_KEY, _SLOT, _TRACE = "lesson_strip", "_place_of_strip", "_trace_of_lesson"  # with its hash
_DRAWN = "_step_of_strip"  # the lesson and the step that the strip on screen is of
# The text for which the step has found its place; "" if it is yet to find one.
_FOUND_FOR = "_lesson_found_for"


def begin(page: StreamlitPage) -> str:
    """Read the lesson and its step; a link that names no more than these opens the step.

    Returns the name of the step's page, to be opened instead, or "". Opening the page of all
    lessons from the menu ends the lesson.
    """
    state, is_link = st.session_state, address.is_read_now()
    for key in (WHEN_TRACED, WHEN_DRAWN, _TRACE):
        state.pop(key, None)
    if page.url_path == _PAGE and GO_TO not in state and not is_link:
        leave()
    name = controls.choice(
        "lesson", ["", *names()], subject="The lessons are", default="", optional=True
    )
    if not name:
        state.pop(_DRAWN, None)
        return ""
    state.update({WHEN_TRACED: _take_trace, WHEN_DRAWN: _draw})
    wanted = address.asks_for("step")
    number = controls.number("step", 1, len(read_lesson(name).steps), 1)
    is_link &= wanted in {"", str(number)}  # else a notice stays on this page
    if is_link and (page.url_path == _PAGE or not address.asks_for("model")):
        open_step(name, number)
        return str(state[GO_TO])
    return ""


def place_strip() -> None:
    """Reserve the place of the strip, which is filled when the page is drawn.

    Until then the strip before stays, except at a new step: its name comes at once, and its veil.
    """
    if not st.session_state["lesson"]:
        st.empty()
        return
    lesson, number, step = _step()
    box = st.container(key="lesson_veiled" if step.veiled else "lesson")  # see veil.css
    for name in ("headline.css", "veil.css")[: 1 + step.veiled]:
        st.html(Path(__file__).with_name(name))
    if st.session_state.get(_DRAWN) == (lesson.name, number):
        st.session_state[_SLOT] = box.container()  # as deep as at a new step: it keeps its focus
        return
    slot = box.empty()
    slot.caption(f"{lesson.title} · step {number} of {len(lesson.steps)}")
    st.session_state[_SLOT] = slot


def leave() -> None:
    """End the lesson, and stay on the page; for callbacks, and before anything is drawn."""
    controls.pick(lesson="")


def open_step(name: str, number: int) -> None:
    """Open a step, from 1, in the next run; for callbacks, and before anything is drawn.

    A model that the visitor has chosen during the lesson stays.
    """
    state, lesson = st.session_state, read_lesson(name)
    step = lesson.steps[number - 1]
    model = _own_model(lesson) or step.model or lesson.model
    image = step.image or lesson.image
    state.update({switch.KEY: "image" if image else "text", "two": bool(step.pair)})
    controls.pick(lesson=name, step=number, text=step.text or lesson.text, pair=step.pair)
    link = {key: value for key, value in step.link.items() if "{" not in value}
    address.request(
        dict.fromkeys(controls.own_keys() - step.link.keys(), "")
        | {"model": model}
        | ({"image": image} if image else {})
    )
    _set(link)
    state[_FOUND_FOR] = ""
    go_to(step.page)


def _own_model(lesson: Lesson) -> str:
    """The model that the visitor has chosen in place of the step's, if any."""
    state = st.session_state
    if state.get("lesson") != lesson.name or not state.get("model"):
        return ""
    before = lesson.steps[min(state.get("step", 1), len(lesson.steps)) - 1]
    is_read = (state.get(switch.KEY) == "image") == bool(before.image or lesson.image)
    is_own = is_read and state["model"] != (before.model or lesson.model)
    return str(state["model"]) if is_own else ""


def _set(link: dict[str, str]) -> None:
    """Set controls of the page that are not drawn yet, as if the visitor had.

    Layer and head are picked: a link's, if they are the page's default, would follow the text.
    """
    place = {key: link.pop(key) for key in ("layer", "head") if key in link}
    for key in place:
        address.take(key)
    controls.pick(**place)
    address.request(link)


def _step() -> tuple[Lesson, int, Step]:
    lesson, number = read_lesson(st.session_state["lesson"]), st.session_state["step"]
    return lesson, number, lesson.steps[number - 1]


def _take_trace(trace: Trace) -> None:
    """Take the trace on screen, and show the place that the step finds on this text."""
    from core.ui.lessons.answers import NotInTextError
    from core.ui.lessons.saying import filled_link

    state, step, text = st.session_state, _step()[2], _hash(trace)
    state[_TRACE] = trace, text
    before = state.get(_FOUND_FOR, text)  # nothing before a link that has all parameters
    state[_FOUND_FOR] = text
    if before == text or opened().name != step.page:
        return
    try:
        link = filled_link(step, trace)
    except NotInTextError:
        return
    # Picking a place before may have been undone by going from a text to an image.
    again = () if before else ("layer", "head")
    _set({key: link[key] for key, value in step.link.items() if "{" in value or key in again})


@kept
def _hash(trace: Trace) -> str:
    """A short name of the model and the text or image on screen, which gives nothing away."""
    return hashlib.sha256(repr(current_key(trace.model)).encode()).hexdigest()[:12]


def _draw() -> None:
    """Draw the strip; its answers are measured on the trace that the page has shown."""
    from core.components.lesson import show_lesson
    from core.ui.lessons.saying import strip

    lesson, number, step = _step()
    trace, guesses = st.session_state.pop(_TRACE, (None, ""))
    text = st.session_state["text"] if trace is not None and trace.patches is None else ""
    own = text if text.strip() != (step.text or lesson.text) else ""
    data = strip(lesson.name, number, trace, _place(trace), own)
    data["guesses"] = guesses  # where the browser keeps them
    data["restart"] = data.get("restart", False) or opened().name != step.page
    slot = st.session_state.pop(_SLOT)
    with slot if st.session_state.get(_DRAWN) == (lesson.name, number) else slot.container():
        show_lesson(data, key=_KEY, on_step=_go)
    st.session_state[_DRAWN] = lesson.name, number


def _place(trace: Trace | None) -> Place:
    """The layer and head on screen, from 0."""
    from core.ui.lessons.answers import Place

    layer, head = controls.place_on_screen()
    if trace is None:
        return Place(None, None)
    return Place(
        trace.layer_labels.index(int(layer)) if layer.isdigit() else None,
        int(head) - 1 if head.isdigit() else None,
    )


def _go(number: int) -> None:
    """Open the step that the strip asks for; 0 leaves the lesson."""
    name = st.session_state.get("lesson", "")
    if name in names() and 0 < number <= len(read_lesson(name).steps):
        open_step(name, number)
    else:
        leave()
