"""Run a built-in corpus through a model under a progress bar, with a Cancel button."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from core.model import ModelError, Trace, trace_by_length
from core.ui import cache, controls
from core.ui.serve.long_work import ProgressBar, Shared, bar_with_cancel, long_work
from core.ui.words.messages import show_model_error

TEXT_SOURCES = {"text": "your text", "corpus": "sample corpus"}
# Two models on two pages: sums for every head on some 300 sentences, 7 MB, 13 MB for BERT base.
MAX_CORPORA = 4
_OF_CORPORA = {"self", "encoder"}  # attention types that corpus texts can have

Result = TypeVar("Result")


def reads_corpora(trace: Trace) -> bool:
    """Whether a corpus has this type of attention: its texts go through the encoder alone.

    So do the repeated sequences for induction. An image model reads no texts.
    """
    return trace.attention_type in _OF_CORPORA and trace.input.has_words


def pick_source(trace: Trace) -> str:
    """Choose whether heads are measured on the typed text or the sample corpus, if possible.

    If there is no choice, :func:`show_unread` says why.
    """
    has_choice = reads_corpora(trace)
    return controls.choice(
        "source",
        TEXT_SOURCES if has_choice else {"text": trace.input.read},
        "Measured on" if has_choice else "",
        subject="Heads can be measured on",
        label_visibility="collapsed",
    )


def show_unread(trace: Trace, what: str = "The sample corpus") -> bool:
    """Say, if so, that only the encoder reads a corpus, with a button; returns whether it did."""
    if trace.attention_type in _OF_CORPORA:
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{what} is read by the encoder alone.", width="content")
        show = partial(st.session_state.update, attention="encoder")
        st.button("Show the encoder", key="show_encoder", type="tertiary", on_click=show)
    return True


def corpus_digest(sentences: Sequence[str]) -> str:
    """A corpus's part of the cache key, next to the model."""
    return hashlib.sha256("\n".join(sentences).encode("utf-8", "replace")).hexdigest()


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def _places(name: str, model_name: str, digest: str) -> Shared[list[Any]]:  # noqa: ARG001 - the key
    """The slot for results, shared by all visitors; empty until a run has finished."""
    return Shared([])


def measured_on(
    name: str,
    model_name: str,
    sentences: Sequence[str],
    measure: Callable[[Iterator[tuple[int, Trace]]], Result],
) -> Result:
    """What a page (`name`) measures with a model on a corpus, cached or measured now.

    `measure` gets each sentence's index and trace, in any order. Cancel returns to the typed text;
    an error ends the page.
    """
    total = len(sentences)

    def words(done: int) -> str:
        return f"Measuring every head on the sample corpus: {done} of {total} sentences"

    def traces(bar: ProgressBar) -> Iterator[tuple[int, Trace]]:
        for done, traced in enumerate(trace_by_length(cache.model(model_name), sentences), 1):
            yield traced
            bar.step(done / total, words(done))

    place: Shared[list[Result]] = _places(name, model_name, corpus_digest(sentences))
    run: Callable[[ProgressBar], Result] = lambda bar: measure(traces(bar))
    back_to_text = partial(st.session_state.update, source="text")
    return measure_once(place, run, words(0), f"{name}_cancel", back_to_text)


def measure_once(
    place: Shared[list[Result]],
    run: Callable[[ProgressBar], Result],
    begins: str,
    cancel: str,
    on_cancel: Callable[[], None],
) -> Result:
    """The slot's content, or what `run` puts there under a bar; ends the page on an error."""
    if not place.kept:
        try:
            with long_work(), bar_with_cancel(cancel, on_cancel) as bar:
                begin = partial(bar.show, 0.0, begins)
                begin()
                with place.turn(waiting=begin):
                    if not place.kept:
                        place.kept.append(run(bar))
        except ModelError as error:
            show_model_error(error)
            controls.end_page()
    return place.kept[0]
