"""A built-in corpus, run through a model under a progress bar that can be cancelled."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import streamlit as st

from core.model import ModelError, trace_by_length
from core.ui import cache, controls
from core.ui.messages import show_model_error
from core.ui.site import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.model import LoadedModel, Trace

SOURCES = {"text": "your text", "corpus": "sample corpus"}
_TELL_EVERY = 4  # sentences between two steps of the progress bar

Kept = TypeVar("Kept")


@dataclass(eq=False)
class _Walk(Generic[Kept]):
    """How far one visitor's run has come before a click or a Cancel."""

    of: tuple[str, str]
    kept: Kept
    done: set[int] = field(default_factory=set)


def corpus_digest(sentences: Sequence[str]) -> str:
    """What a measured corpus is cached by, beside the model."""
    return hashlib.sha256("\n".join(sentences).encode("utf-8", "replace")).hexdigest()


def _leave_corpus() -> None:
    st.session_state["source"] = "text"


def walk_corpus(
    name: str,
    model_name: str,
    sentences: Sequence[str],
    begin: Callable[[], Kept],
    take: Callable[[Kept, int, Trace], None],
    *,
    which: str = "the sample corpus",
    leave: Callable[[], None] = _leave_corpus,
) -> Kept:
    """What `take` has gathered from the traces of all sentences; ends the page if the model fails.

    Parameters
    ----------
    name : of the page, to keep its unfinished run in the session: what was measured before a click
        or a Cancel is not measured again.
    begin : makes what is gathered into, empty.
    take : adds one sentence's trace, told its place.
    which : what the corpus is called while it is measured.
    leave : what Cancel does to the page's controls.
    """
    of = (model_name, corpus_digest(sentences))
    walk: _Walk[Kept] | None = st.session_state.get(_key(name))
    if walk is None or walk.of != of:
        walk = _Walk(of, begin())
        st.session_state[_key(name)] = walk
    try:
        model = cache.model(model_name)
        with turns.long_work(), _progress_bar(name, which, leave) as tell:
            _go_on(walk, model, sentences, take, tell)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    st.session_state.pop(_key(name), None)
    return walk.kept


def show_cancelled(name: str, model_name: str, total: int) -> None:
    """After a Cancel: how far it came."""
    walk: _Walk[object] | None = st.session_state.get(_key(name))
    if walk is not None and walk.of[0] == model_name and walk.done:
        st.caption(
            f"The sample corpus was left after {len(walk.done)} of {total} sentences; choose it"
            " again to go on from there."
        )


@contextlib.contextmanager
def _progress_bar(
    name: str, which: str, leave: Callable[[], None]
) -> Iterator[Callable[[int, int], None]]:
    """A bar and Cancel, gone when all is done; gives what moves it, of sentences done and all."""
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.empty()
        st.button("Cancel", key=f"{name}_cancel", on_click=leave)

    def tell(done: int, total: int) -> None:
        bar.progress(
            done / total, text=f"Measuring every head on {which}: {done} of {total} sentences"
        )

    yield tell
    slot.empty()


def _go_on(
    walk: _Walk[Kept],
    model: LoadedModel,
    sentences: Sequence[str],
    take: Callable[[Kept, int, Trace], None],
    tell: Callable[[int, int], None],
) -> None:
    left = [place for place in range(len(sentences)) if place not in walk.done]
    tell(len(walk.done), len(sentences))
    for index, trace in trace_by_length(model, [sentences[place] for place in left]):
        take(walk.kept, left[index], trace)
        walk.done.add(left[index])
        if len(walk.done) % _TELL_EVERY == 0:  # also where Streamlit notices Cancel
            tell(len(walk.done), len(sentences))
        turns.give_way()


def _key(name: str) -> str:
    return f"_{name}_walk"
