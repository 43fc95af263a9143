"""The sample corpus, run through a model under a progress bar that can be cancelled."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import streamlit as st

from core.model import ModelError, trace_by_length
from core.ui import cache, turns
from core.ui.messages import show_model_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def walk_corpus(
    name: str,
    model_name: str,
    sentences: Sequence[str],
    begin: Callable[[], Kept],
    take: Callable[[Kept, int, Trace], None],
) -> Kept:
    """What `take` has gathered from the traces of all sentences; ends the page if the model fails.

    Parameters
    ----------
    name : of the page, to keep its unfinished run in the session: what was measured before a click
        or a Cancel is not measured again.
    begin : makes what is gathered into, empty.
    take : adds one sentence's trace, told its place.
    """
    of = (model_name, corpus_digest(sentences))
    walk: _Walk[Kept] | None = st.session_state.get(_key(name))
    if walk is None or walk.of != of:
        walk = _Walk(of, begin())
        st.session_state[_key(name)] = walk
    try:
        model = cache.model(model_name)
        with turns.long_work():
            _go_on(name, walk, model, sentences, take)
    except ModelError as error:
        show_model_error(error)
        st.stop()
    st.session_state.pop(_key(name), None)
    return walk.kept


def say_cancelled(name: str, model_name: str, total: int) -> None:
    """After a Cancel: how far it came."""
    walk: _Walk[object] | None = st.session_state.get(_key(name))
    if walk is not None and walk.of[0] == model_name and walk.done:
        st.caption(
            f"The sample corpus was left after {len(walk.done)} of {total} sentences; choose it"
            " again to go on from there."
        )


def _go_on(
    name: str,
    walk: _Walk[Kept],
    model: LoadedModel,
    sentences: Sequence[str],
    take: Callable[[Kept, int, Trace], None],
) -> None:
    left = [place for place in range(len(sentences)) if place not in walk.done]
    total = len(sentences)
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(len(walk.done) / total, text=_progress(len(walk.done), total))
        st.button("Cancel", key=f"{name}_cancel", on_click=_leave_corpus)
    for index, trace in trace_by_length(model, [sentences[place] for place in left]):
        take(walk.kept, left[index], trace)
        walk.done.add(left[index])
        done = len(walk.done)
        if done % _TELL_EVERY == 0:  # also where Streamlit notices that Cancel was pressed
            bar.progress(done / total, text=_progress(done, total))
        turns.give_way()
    slot.empty()


def _key(name: str) -> str:
    return f"_{name}_walk"


def _progress(done: int, total: int) -> str:
    return f"Measuring every head on the sample corpus: {done} of {total} sentences"


def _leave_corpus() -> None:
    st.session_state["source"] = "text"
