"""Pages while a default model is loading: its progress, and what is drawn later.

A page is drawn from what the app ships for its first input, and parts that need the model wait.
When the page has ended, its run waits for the model and draws them.
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

# Time for the browser to fetch the first page's assets from this same process, before imports
# hold the interpreter's lock.
DELAY_SECONDS = 1.0
FAILED = "_failed_model"  # in the session: the model's name and the error
NEEDS_MODEL = "This needs the model itself, which is loading."
_LOOK_SECONDS = 0.1  # how soon a waiting run notices that its visitor has moved on
_LATER, _AWAITED = "_drawn_with_the_model", "_awaited_model"
_DOES: dict[Phase, str] = {
    "importing": "PyTorch is being imported (1 of 3)",
    "reading": "the weights are being read (2 of 3)",
    "checking": "its attention is being checked (3 of 3)",
}


def start_page() -> None:
    """Begin a run: nothing waits for a model."""
    st.session_state.pop(_LATER, None)


def defer_model(name: str, modality: Modality) -> None:
    """Draw this page without the model. Loading starts once the page has ended."""
    st.session_state.update({_LATER: [], _AWAITED: (name, modality)})


def is_awaited() -> bool:
    """Whether this page is being drawn without the model."""
    return _LATER in st.session_state


def when_loaded(draw: Callable[[], None], words: str = "") -> None:
    """Draw what needs the model in this place: now or, on a page without it, once it is loaded.

    Until then the place shows `words` (Markdown).
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
    """Draw the page again, with the reason why its model failed."""
    st.session_state[FAILED] = (st.session_state[_AWAITED][0], error)
    st.rerun()


def wait(name: str, modality: Modality, delay: float = 0.0) -> None:
    """Load a model that the page needs at once, and show the progress.

    Loading starts after `delay` seconds, for a page that shows something meanwhile.
    """
    load = cache.first_loads.get((name, modality))
    if load is None or load.is_ready:
        return
    cache.begin_first_load(name, modality, delay)
    slot = above_page().empty()
    _wait(name, modality, slot.info)
    slot.empty()


def _wait(name: str, modality: Modality, show: Callable[[str], object]) -> None:
    """Wait until the load has succeeded or failed. `show` gets each stage in words (Markdown)."""
    last, load = "", cache.first_loads[name, modality]
    with long_work():
        while not load.wait(_LOOK_SECONDS):
            stage = load.stage
            words = (
                f"**The model is loading:** {_DOES[stage]}." if stage else "The model is loading."
            )
            if words != last:
                show(words)
                last = words
            is_awaited()  # Streamlit ends the run here when its visitor has moved on
