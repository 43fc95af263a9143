"""Pages while a default model is being loaded: what it has come to, and what is drawn later.

A page is drawn from what comes with the app of its first input, and parts of it that need the model
wait. When the page has ended, its run waits for the model and draws them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.model.errors import ModelError
from core.ui import cache
from core.ui.serve.long_work import long_work
from core.ui.words.messages import above_page
from core.vocabulary import Modality

if TYPE_CHECKING:
    from core.model.opening.load import Phase

# Time for the browser to fetch what draws the first page, which it asks this very process for,
# before imports take the interpreter's lock.
DELAY_SECONDS = 1.0
FAILED = "_failed_model"  # of this visitor: its name, and why
NEEDS_MODEL = "This needs the model itself, which is loading."
_LOOK_SECONDS = 0.1  # how soon a run that waits notices that its visitor has moved on
_LATER, _AWAITED = "_drawn_with_the_model", "_awaited_model"
_DOES: dict[Phase, str] = {
    "importing": "PyTorch is being imported (1 of 3)",
    "reading": "the weights are being read (2 of 3)",
    "checking": "its attention is being checked (3 of 3)",
}


def start_page() -> None:
    """Begin a run: nothing waits."""
    st.session_state.pop(_LATER, None)


def defer_model(name: str, modality: Modality) -> None:
    """Draw this page without the model. The load begins once the page has ended."""
    st.session_state.update({_LATER: [], _AWAITED: (name, modality)})


def is_awaited() -> bool:
    """Whether this page is drawn without the model."""
    return _LATER in st.session_state


def when_loaded(draw: Callable[[], None], words: str = "") -> None:
    """Draw what needs the model in this place: now or, on a page without it, when it has come.

    `words` (Markdown) stand there until then.
    """
    slot = st.empty()
    if is_awaited():
        if words:
            slot.caption(words)
        st.session_state[_LATER].append((slot, words, draw))
    else:
        with slot.container():
            draw()


def finish_page() -> None:
    """End a page: if parts of it wait for the model, wait too, and draw them."""
    later: list[tuple[DeltaGenerator, str, Callable[[], None]]]
    later = st.session_state.get(_LATER, [])
    if not later:
        return
    slot, words, _ = later[0]
    name, modality = st.session_state[_AWAITED]
    if not cache.first_loads[name, modality].is_ready:
        cache.begin_first_load(name, modality, DELAY_SECONDS)
    _wait(name, modality, lambda stage: slot.caption(f"{words}\n\n{stage}"))
    try:
        cache.model(name, modality)
    except ModelError as error:
        fail(error)
    start_page()
    for slot, _, draw in later:
        with slot.container():
            draw()


def fail(error: ModelError) -> NoReturn:
    """Draw the page again, with the reason why its model cannot be had."""
    st.session_state[FAILED] = (st.session_state[_AWAITED][0], error)
    st.rerun()


def wait(name: str, modality: Modality, delay: float = 0.0) -> None:
    """Where a page needs this model at once: begin to load it, and say what is done.

    After so many seconds, where something is drawn meanwhile.
    """
    load = cache.first_loads.get((name, modality))
    if load is None or load.is_ready:
        return
    cache.begin_first_load(name, modality, delay)
    slot = above_page().empty()
    _wait(name, modality, slot.info)
    slot.empty()


def _wait(name: str, modality: Modality, show: Callable[[str], object]) -> None:
    """Until the load has ended, well or not. `show` gets each stage in words (Markdown)."""
    shown, load = "", cache.first_loads[name, modality]
    with long_work():
        while not load.wait(_LOOK_SECONDS):
            stage = load.stage
            words = (
                f"**The model is loading:** {_DOES[stage]}." if stage else "The model is loading."
            )
            if words != shown:
                show(words)
                shown = words
            is_awaited()  # Streamlit ends the run here when its visitor has moved on
