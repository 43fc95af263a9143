"""What this visitor is looking at: the model and the trace, or a message and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.model import LoadedModel, ModelError, Trace
from core.model.downloading.downloads import too_large
from core.model.errors import HubUnreachableError, NotDownloadedError, OutOfMemoryError
from core.ui import cache, controls, kinds, sidebar
from core.ui.messages import quote, show_model_error, show_trace_limits
from core.ui.site.access import default_model, max_download_mb, resolve
from core.ui.site.fetching import fetch_model

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST_GOOD = "_last_good_model"
_FAILED = "_failed_model"
_WANTED = "_wanted_model"  # a name whose download was asked for with the button


def current_trace(*, cross: bool = False) -> Trace:
    """The trace of the text by the chosen model; ends the page where there is none.

    A model that cannot be used is reported and the last usable one stands in, so that the page
    stays usable. With an encoder-decoder, the visitor chooses the kind of attention; `cross`
    attention has other tokens as keys than as queries, and not every page can show that.
    """
    model = current_model()
    sidebar.show_model_facts(model)
    if model.is_encoder_decoder:
        kinds.choose(model, cross=cross)
    key = current_key(model.name)
    if not key[1].strip():
        st.info("**Type a sentence** in the sidebar, or pick one of the examples there.")
        controls.end_page()
    try:
        trace = cache.trace(*key)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    if trace.source is not None:  # its keys are of the text that the encoder reads
        show_trace_limits(cache.trace(*key._replace(kind="encoder")))
    show_trace_limits(trace)
    if model.is_encoder_decoder:
        kinds.explain(trace)
    return trace


def current_key(model_name: str) -> cache.TextKey:
    """What the trace on screen is cached by: the model's name, the texts, the kind of attention."""
    pair = st.session_state["pair"] if st.session_state["two"] else ""
    chosen = kinds.chosen() if cache.model(model_name).is_encoder_decoder else (None, None)
    return cache.TextKey(model_name, st.session_state["text"], pair.strip() or None, *chosen)


def current_model() -> LoadedModel:
    """The chosen model or, with a message, the last one that worked."""
    name = st.session_state["model"].strip()
    try:
        model = _load(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
        sidebar.note_stand_in(stands_in=True)
        return _stand_in(name, error)
    st.session_state[_LAST_GOOD] = name
    _forget_failure()  # coming back to a model that failed tries it again
    sidebar.note_stand_in(stands_in=False)
    return model


def _load(name: str) -> LoadedModel:
    """The cached model, if this visitor may use it. A failure is remembered, so as not to ask the
    hub at every click.
    """
    failed_name, error = st.session_state.get(_FAILED, (None, None))
    if failed_name == name and error is not None:
        raise error
    try:
        return cache.model(resolve(name))
    except NotDownloadedError as missing:
        max_mb = max_download_mb()
        if max_mb is not None and missing.size_mb > max_mb:  # no button that would only refuse
            raise too_large(name, missing.size_mb, max_mb) from missing
        raise


def _stand_in(name: str, error: ModelError) -> LoadedModel:
    """The message, the way out, and the model shown until then."""
    show_model_error(error)
    fallback = st.session_state.get(_LAST_GOOD, default_model())
    try:
        key = resolve(fallback)  # access may have changed since
    except ModelError:
        key = fallback = default_model()
    with st.container(horizontal=True, vertical_alignment="center"):
        if isinstance(error, HubUnreachableError | OutOfMemoryError):
            _offer("Try again", _forget_failure)
        if isinstance(error, NotDownloadedError):
            _offer("Download", lambda: st.session_state.update({_WANTED: name}))
            if st.session_state.pop(_WANTED, None) == name:  # once: a click elsewhere ends it
                _download(name)
                st.rerun()
        if fallback == name:
            controls.end_page()
        st.markdown(f"Until then the page shows {quote(fallback)}.")
    return cache.model(key)


def _offer(label: str, on_click: Callable[[], None]) -> None:
    st.button(label, key="model_way_out", type="primary", on_click=on_click)


def _forget_failure() -> None:
    st.session_state.pop(_FAILED, None)


def _download(name: str) -> None:
    try:
        fetch_model(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
    else:
        _forget_failure()
