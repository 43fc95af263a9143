"""What this visitor looks at: the model and the trace, or a message and the way out."""

from __future__ import annotations

import streamlit as st

from core.model import LoadedModel, ModelError, Trace
from core.model.downloading.downloads import too_large
from core.model.errors import HubUnreachableError, NotDownloadedError, OutOfMemoryError
from core.ui import cache, controls, sidebar
from core.ui.messages import quote, show_model_error, show_trace_limits
from core.ui.site.access import default_model, max_download_mb, resolve
from core.ui.site.fetching import fetch_model

_LAST_GOOD = "_last_good_model"
_FAILED = "_failed_model"
_WANTED = "_wanted_model"  # a name whose download was asked for with the button


def current_trace() -> Trace:
    """The trace of what is typed, by the model that is picked; ends the page if there is none.

    A model that cannot be used is told, and the last one that could be is used instead, so that
    the page stays usable.
    """
    model = current_model()
    sidebar.show_model_facts(model)
    key = current_key(model.name)
    if not key[1].strip():
        st.info("**Type a sentence** in the sidebar, or pick one of the examples there.")
        controls.end_page()
    try:
        trace = cache.trace(*key)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
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
        sidebar.note_stand_in(stands_in=True)
        return _stand_in(name, error)
    st.session_state[_LAST_GOOD] = name
    _forget_failure()  # to come back to a model that failed is to try it again
    sidebar.note_stand_in(stands_in=False)
    return model


def _load(name: str) -> LoadedModel:
    """The cached model, if this visitor may use it.

    A failure is remembered, so that the hub is not asked at every click.
    """
    failed_name, error = st.session_state.get(_FAILED, (None, None))
    if failed_name == name and error is not None:
        raise error
    try:
        return cache.model(resolve(name))
    except NotDownloadedError as missing:
        most = max_download_mb()
        if most is not None and missing.size_mb > most:  # no button that would only refuse
            raise too_large(name, missing.size_mb, most) from missing
        raise


def _stand_in(name: str, error: ModelError) -> LoadedModel:
    """The message, the way out, and the model that is shown until then."""
    show_model_error(error)
    fallback = st.session_state.get(_LAST_GOOD, default_model())
    try:
        key = resolve(fallback)  # what was good may be asked for from elsewhere now
    except ModelError:
        key = fallback = default_model()
    with st.container(horizontal=True, vertical_alignment="center"):
        _offer_way_out(name, error)
        if fallback == name:
            controls.end_page()
        st.markdown(f"Until then the page shows {quote(fallback)}.")
    return cache.model(key)


def _offer_way_out(name: str, error: ModelError) -> None:
    """A button, where pressing one can help, and what it starts."""
    if isinstance(error, HubUnreachableError | OutOfMemoryError):
        st.button("Try again", key="model_way_out", type="primary", on_click=_forget_failure)
    if isinstance(error, NotDownloadedError):
        st.button(
            "Download", key="model_way_out", type="primary", on_click=_want_download, args=(name,)
        )
        if st.session_state.pop(_WANTED, None) == name:  # once: a click elsewhere ends it
            _download(name)
            st.rerun()


def _forget_failure() -> None:
    st.session_state.pop(_FAILED, None)


def _want_download(name: str) -> None:
    st.session_state[_WANTED] = name


def _download(name: str) -> None:
    try:
        fetch_model(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
    else:
        _forget_failure()
