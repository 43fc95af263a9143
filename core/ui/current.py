"""What this visitor looks at: the model and the trace, or a message and the way out."""

from __future__ import annotations

import streamlit as st

from core.model import LoadedModel, ModelError, Trace, load
from core.model.errors import (
    HubUnreachableError,
    NotDownloadedError,
    NotOfferedError,
    OutOfMemoryError,
)
from core.ui import address, cache, sidebar
from core.ui.messages import quote, show_model_error, show_trace_limits

_LAST_GOOD = "_last_good_model"
_FAILED = "_failed_model"


def current_trace() -> Trace:
    """The trace of what is typed, by the model that is picked; ends the page if there is none.

    A model that cannot be used is told, and the last one that could be is used instead, so that
    the page stays usable.
    """
    model = current_model()
    sidebar.show_model_facts(model)
    key = current_key(model.name)
    if not key[1].strip():
        address.publish()
        st.info("**Type a sentence** in the sidebar, or pick one of the examples there.")
        st.stop()
    try:
        trace = cache.trace(*key)
    except ModelError as error:
        address.publish()
        show_model_error(error)
        st.stop()
    show_trace_limits(trace)
    return trace


def current_key(model_name: str) -> cache.TextKey:
    """What the trace on screen is cached by: the model's name and what is typed."""
    pair = st.session_state["pair"] if st.session_state["two"] else ""
    return model_name, st.session_state["text"], pair.strip() or None


def current_model() -> LoadedModel:
    """The model that is picked, or, with a message, the last one that worked."""
    name = st.session_state["model"].strip()
    try:
        model = _load(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
        show_model_error(error)
        fallback = st.session_state.get(_LAST_GOOD, sidebar.default_model())
        with st.container(horizontal=True, vertical_alignment="center"):
            _offer_way_out(name, error)
            if fallback == name:
                st.stop()
            st.markdown(f"Until then the page shows {quote(fallback)}.")
        return cache.model(fallback)
    st.session_state[_LAST_GOOD] = name
    st.session_state.pop(_FAILED, None)  # to come back to a model that failed is to try it again
    return model


def _load(name: str) -> LoadedModel:
    """The cached model; a failure is remembered, so that the hub is not asked at every click."""
    allowed = sidebar.offered_models()
    if allowed is not None and name not in allowed:
        raise NotOfferedError(
            name, "This site does not offer {name}.", f"It offers: {', '.join(allowed)}."
        )
    failed_name, error = st.session_state.get(_FAILED, (None, None))
    if failed_name == name and error is not None:
        raise error
    return cache.model(name)


def _offer_way_out(name: str, error: ModelError) -> None:
    """A button, where pressing one can help."""
    if not isinstance(error, NotDownloadedError | HubUnreachableError | OutOfMemoryError):
        return
    missing = isinstance(error, NotDownloadedError)
    if st.button("Download" if missing else "Try again", key="model_way_out", type="primary"):
        st.session_state.pop(_FAILED, None)
        if missing:
            _download(name)
        st.rerun()


def _download(name: str) -> None:
    try:
        with st.spinner("Downloading the model; this takes a few minutes …"):
            load(name, download=True)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
