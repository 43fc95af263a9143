"""What this visitor is looking at: the model and the trace, or a message with a way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.strongest_link import FoundLink, find_link
from core.model.errors import (
    HubUnreachableError,
    ModelError,
    NotDownloadedError,
    OutOfMemoryError,
)
from core.model.opening import catalog
from core.model.trace import AttentionType, Trace
from core.ui import cache, controls, navigation
from core.ui.cache import first_model
from core.ui.frame import attention_types, model_chip, switch
from core.ui.serve.access import access, first_offered, max_download_mb, resolve
from core.ui.words.messages import above_page, show_model_error, show_stand_in, show_trace_limits
from core.ui.words.pages import find_page, opened

if TYPE_CHECKING:
    from core.model import LoadedModel
    from core.model.bundled.first import FirstInput
    from core.model.text.languages import Languages

WHEN_TRACED = "_when_traced"  # in the session: a function that gets the trace before controls
_LAST_GOOD = "_last_good_models"  # by modality
_FAILED = first_model.FAILED
_NAMES = {"text": "sentences", "image": "images"}
_WANTED = "_wanted_model"  # the model whose download button was pressed


def current_trace() -> Trace:
    """The chosen model's trace of the text or image; ends the page if there is none.

    A model that cannot be used is reported and replaced by the last usable one, so that the page
    stays usable. With an encoder-decoder, the visitor chooses the type of attention.
    """
    with above_page():
        trace = _current_trace()
    st.session_state.get(WHEN_TRACED, lambda _: None)(trace)
    return trace


def _current_trace() -> Trace:
    _end_unless_shown_here()
    if switch.modality() == "image":  # no pair, no decoder
        return _current_image()
    name = st.session_state["model"].strip()
    if not opened().needs_model and (shipped := awaited_text()) is not None:
        _suggest_head(trace := _defer_model(_text_key(name), shipped))
        return trace
    model = current_model()
    model_chip.show_model_facts(model)
    if model.is_encoder_decoder:
        attention_types.choose_attention(model, cross=opened().shows_cross)
    key = current_key(model.name)
    if not key[1].strip():
        st.info("**Type a sentence** above, or pick one of the examples beside it.")
        controls.end_page()
    try:
        trace = cache.trace(*key)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    if trace.source is not None:  # its key tokens are from the encoder's text
        show_trace_limits(cache.trace(*key._replace(attention_type="encoder")))
    show_trace_limits(trace)
    model_chip.show_rules(trace)
    if model.is_encoder_decoder:
        attention_types.explain_attention(trace)
    _suggest_head(trace)
    return trace


def awaited_text() -> FirstInput | None:
    """What the app ships for the text on screen, while the model is not loaded."""
    name = st.session_state["model"].strip()
    awaited = (name, "text") in cache.first_loads and _awaits_model(name)
    return cache.first_input(_text_key(name)) if awaited else None


def _awaits_model(name: str) -> bool:
    """Whether this is a default model that is not loaded yet."""
    return _is_first(name) and not cache.first_loads[name, switch.modality()].is_ready


def _is_first(name: str) -> bool:
    """Whether this is a default model that has not failed to load."""
    failed, _ = st.session_state.get(_FAILED, (None, None))
    known = (name, switch.modality()) in cache.first_loads
    return known and failed != name and name in access(switch.modality()).names


def begin_corpus(model_name: str) -> Trace | None:
    """Begin a corpus page from what the app ships, whether or not its model is loaded.

    Returns the model's first trace; None if finding the first head needs the model.
    """
    key = _text_key(model_name)
    first = cache.first_of(model_name) if _is_first(model_name) else None
    if first is None or (_awaits_model(model_name) and cache.first_input(key) is None):
        return None
    return _defer_model(key, first)


def _defer_model(key: cache.TraceKey, first: FirstInput) -> Trace:
    """Begin a page from what the app ships for its input.

    The model, and the facts behind its name, follow when the page has ended.
    """
    _note_success(key.model)
    first_model.defer_model(key.model, key.modality)
    model_chip.show_model_facts_later(first.trace, lambda: cache.model(key.model, key.modality))
    return first.trace


def _current_image() -> Trace:
    """The trace of the image; ends the page if the model refuses it."""
    from core.ui.frame import image_row

    if question := opened().of_image:
        navigation.set_headline(question)
    name = st.session_state["model"].strip()
    key = _image_key(name)
    if not opened().needs_model and _awaits_model(name) and (first := cache.first_input(key)):
        image_row.show_facts(_defer_model(key, first))
        _suggest_known(name)
        return first.trace
    model = current_model()
    model_chip.show_model_facts(model)
    try:
        trace = cache.trace(*_image_key(model.name))
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    image_row.show_facts(trace)
    _suggest_known(model.name)
    return trace


def _end_unless_shown_here() -> None:
    """If this site offers no model for what the page shows, link to the nearest page that works,
    and end this one.
    """
    page = opened()
    if switch.modality() in page.modalities:
        return
    own, other = _NAMES[page.modalities[0]], _NAMES[switch.modality()]
    st.info(
        f"This page shows {own}, and this site offers no model that reads them. For {other} there"
        " is another page:"
    )
    nearest = find_page(page.instead)
    st.page_link(nearest.path, label=f"**{nearest.title}**")
    controls.end_page()


def shown_model() -> str:
    """The model on screen: the chosen one or, if that failed, its stand-in."""
    name: str = st.session_state.get(_LAST_GOOD, {}).get(switch.modality(), "")
    return name


def found_head(trace: Trace) -> FoundLink | None:
    """The layer and head (from 0) worth showing first, and the pair of tokens that it joins.

    None for an image, and if no token has another one to attend to.
    """
    return find_link(trace) if trace.patches is None else None


def _suggest_head(trace: Trace) -> None:
    """Open pages on the head that Home names, until the visitor picks another."""
    link = found_head(trace)
    controls.suggest(None if link is None else (trace.layer_labels[link.layer], link.head + 1))


def _suggest_known(model_name: str) -> None:
    """Open image pages on the head that the catalogue names, if it names one."""
    spec = catalog.find_entry(model_name)
    controls.suggest(None if spec is None else spec.begin)


def suggest_head(model_name: str) -> None:
    """Open a corpus page on the head that Home names, if the model is the same."""
    controls.suggest(None)
    if model_name != shown_model():
        return
    is_known = first_model.is_awaited()  # not an encoder-decoder
    if not is_known and cache.model(model_name, switch.modality()).is_encoder_decoder:
        return  # a corpus goes through the encoder alone
    key = current_key(model_name)
    if key.image is not None:
        _suggest_known(model_name)
    elif key.text.strip():
        _suggest_head(cache.trace(*key))


def current_key(model_name: str) -> cache.TraceKey:
    """The cache key of the trace on screen: the model's name, the texts, the type of attention.

    For an image, its name instead of the texts.
    """
    if switch.modality() == "image":
        return _image_key(model_name)
    if first_model.is_awaited() or not cache.model(model_name).is_encoder_decoder:
        return _text_key(model_name)
    return _text_key(model_name, *attention_types.chosen())


def _text_key(
    model_name: str,
    target: str | None = None,
    attention_type: AttentionType | None = None,
    languages: Languages | None = None,
) -> cache.TraceKey:
    pair = st.session_state["pair"] if st.session_state["two"] else ""
    text = st.session_state["text"]
    pair = pair.strip() or None
    return cache.TraceKey(model_name, text, pair, target, attention_type, languages=languages)


def _image_key(model_name: str) -> cache.TraceKey:
    from core.ui.frame import image_row

    return cache.TraceKey(model_name, "", image=image_row.image_name())


def current_model() -> LoadedModel:
    """The chosen model or, with a message, the last one that worked."""
    name = st.session_state["model"].strip()
    try:
        model = _load(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
        with above_page():
            return _stand_in(name, error)
    _note_success(name)
    return model


def _note_success(name: str) -> None:
    """Note that the chosen model is on screen; choosing one that failed before tries it again."""
    st.session_state.setdefault(_LAST_GOOD, {})[switch.modality()] = name
    _forget_failure()


def _load(name: str) -> LoadedModel:
    """The cached model, if this visitor may use it. Failures are remembered, so that the hub is not
    asked at every click.
    """
    failed_name, error = st.session_state.get(_FAILED, (None, None))
    if failed_name == name and error is not None:
        raise error
    try:
        resolved = resolve(name, switch.modality())
        first_model.wait(resolved, switch.modality())
        return cache.model(resolved, switch.modality())
    except NotDownloadedError as missing:
        from core.model.opening.downloads import check_size

        check_size(name, missing.size_mb, max_download_mb())  # else the button could only refuse
        raise


def _stand_in(name: str, error: ModelError) -> LoadedModel:
    """The model shown instead, with a line on what to do; if there is none, show the refusal."""
    modality = switch.modality()
    last = st.session_state.get(_LAST_GOOD, {}).get(modality, "")
    candidates = (last, first_offered(modality), catalog.default_model(modality))
    model = next(filter(None, (_usable(each) for each in candidates if each != name)), None)
    if model is None:
        show_model_error(error)
    else:
        show_stand_in(error, model)
    with st.container(horizontal=True, vertical_alignment="center"):
        if isinstance(error, HubUnreachableError | OutOfMemoryError):
            _offer("Try again", _forget_failure)
        if isinstance(error, NotDownloadedError):
            _offer("Download", lambda: st.session_state.update({_WANTED: name}))
            if st.session_state.pop(_WANTED, None) == name:  # once: a click elsewhere interrupts it
                _download(name)
                st.rerun()
        if model is None:
            controls.end_page()
    return model


def _usable(name: str) -> LoadedModel | None:
    """The model, unless this visitor may not, or no longer, use it or it cannot be loaded."""
    try:
        return cache.model(resolve(name, switch.modality()), switch.modality())
    except ModelError:
        return None


def _offer(label: str, on_click: Callable[[], None]) -> None:
    st.button(label, key="model_way_out", type="primary", on_click=on_click)


def _forget_failure() -> None:
    st.session_state.pop(_FAILED, None)


def _download(name: str) -> None:
    from core.ui.serve.fetching import fetch_model

    try:
        fetch_model(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
    else:
        _forget_failure()
