"""A built-in corpus, run through a model under a bar; Cancel ends it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import streamlit as st

from core.model import ModelError, Trace, trace_by_length
from core.ui import cache, controls
from core.ui.serve import turns
from core.ui.serve.once import Shared
from core.ui.serve.progress import bar_with_cancel
from core.ui.words.messages import show_model_error

SOURCES = {"text": "your text", "corpus": "sample corpus"}
# Two models on three pages: sums of every head on some 300 sentences, 7 MB, 13 MB for BERT base;
# and a few sentences of each on one.
MAX_CORPORA = 8
_OF_CORPORA = {"self", "encoder"}  # types of attention that the texts of a corpus have

Result = TypeVar("Result")
Measured = TypeVar("Measured")


@dataclass(eq=False)
class _Walk(Generic[Result]):
    """How far one visitor's run came before a click or a Cancel."""

    key: tuple[str, str]
    result: Result
    done: set[int] = field(default_factory=set)


def reads_corpora(trace: Trace) -> bool:
    """Whether this kind of attention is that of a corpus: its texts go through an encoder alone.

    So do the repeated sequences of induction. A model of images reads no texts.
    """
    return trace.attention_type in _OF_CORPORA and trace.input.has_words


def pick_source(trace: Trace) -> str:
    """Whether heads are measured on the typed text or the sample corpus, where there is a choice.

    Where there is none, :func:`show_unread` says why.
    """
    whole = reads_corpora(trace)
    return controls.choice(
        "source",
        SOURCES if whole else {"text": trace.input.read},
        "Measured on" if whole else "",
        subject="Heads can be measured on",
        label_visibility="collapsed",
    )


def show_unread(trace: Trace, what: str = "The sample corpus") -> bool:
    """Say that the encoder alone reads a corpus, with a button; whether there was need to."""
    if trace.attention_type in _OF_CORPORA:
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{what} is read by the encoder alone.", width="content")
        st.button("Show the encoder", key="show_encoder", type="tertiary", on_click=_show_encoder)
    return True


def _show_encoder() -> None:
    st.session_state["attention"] = "encoder"


def corpus_digest(sentences: Sequence[str]) -> str:
    """The key of a measured corpus in caches, beside the model."""
    return hashlib.sha256("\n".join(sentences).encode("utf-8", "replace")).hexdigest()


def _back_to_text() -> None:
    st.session_state["source"] = "text"


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def _places(name: str, model_name: str, digest: str) -> Shared[list[Any]]:  # noqa: ARG001 - the key
    """A place for what was measured, shared by all visitors; empty until a run has finished."""
    return Shared([])


def is_measured(name: str, model_name: str, sentences: Sequence[str]) -> bool:
    """Whether :func:`measured_once` has it."""
    return bool(_places(name, model_name, corpus_digest(sentences)).kept)


def measured_once(
    name: str, model_name: str, sentences: Sequence[str], measure: Callable[[], Measured]
) -> Measured:
    """What a page (`name`) measures with a model on a corpus: from the cache, or measured now."""
    place: Shared[list[Measured]] = _places(name, model_name, corpus_digest(sentences))
    if not place.kept:
        slot = st.empty()
        waiting = partial(slot.caption, "Another visitor is having this measured …")
        with ExitStack() as stack:
            with turns.long_work():
                stack.enter_context(place.turn(waiting))
            slot.empty()
            if not place.kept:
                place.kept.append(measure())
    return place.kept[0]


def walk_corpus(
    name: str,
    model_name: str,
    sentences: Sequence[str],
    begin: Callable[[], Result],
    add: Callable[[Result, int, Trace], None],
) -> Result:
    """The result that `add` collects from the traces of all sentences; ends the page on an error.

    Parameters
    ----------
    name : the page's; its unfinished run stays in the session, so that nothing is measured again
        after a click or a Cancel.
    begin : makes an empty result.
    add : adds one sentence's trace to the result, given its index.
    """

    def traces(rest: Sequence[int]) -> Iterator[tuple[int, Trace]]:
        model = cache.model(model_name)
        for place, trace in trace_by_length(model, [sentences[index] for index in rest]):
            yield rest[place], trace

    key = model_name, corpus_digest(sentences)
    total = len(sentences)
    walk: _Walk[Result] | None = st.session_state.get(_key(name))
    if walk is None or walk.key != key:
        walk = st.session_state[_key(name)] = _Walk(key, begin())
    done = walk.done

    def shown() -> tuple[float, str]:
        words = f"the sample corpus: {len(done)} of {total} sentences"
        return len(done) / total, f"Measuring every head on {words}"

    try:
        with turns.long_work(), bar_with_cancel(f"{name}_cancel", _back_to_text) as bar:
            bar.show(*shown())
            for index, trace in traces([each for each in range(total) if each not in done]):
                add(walk.result, index, trace)
                done.add(index)
                bar.step(*shown())
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    st.session_state.pop(_key(name), None)
    return walk.result


def show_cancelled(name: str, model_name: str, total: int) -> None:
    """After a Cancel: how far it came."""
    walk: _Walk[object] | None = st.session_state.get(_key(name))
    if walk is not None and walk.key[0] == model_name and walk.done:
        st.caption(
            f"You left the sample corpus after {len(walk.done)} of {total} sentences; choose it"
            " again to continue from there."
        )


def _key(name: str) -> str:
    return f"_{name}_walk"
