"""What this visitor is looking at: the model and the trace, or a message and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from core.model import LoadedModel, ModelError, Trace, catalog
from core.model.downloading.downloads import too_large
from core.model.errors import HubUnreachableError, NotDownloadedError, OutOfMemoryError
from core.ui import cache, controls, kinds, navigation
from core.ui.frame import image_row, sidebar, switch
from core.ui.messages import quote, show_model_error, show_trace_limits
from core.ui.site.access import default_model, max_download_mb, resolve
from core.ui.site.fetching import fetch_model
from core.ui.words.pages import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.analysis.found_link import FoundLink
    from core.ui.words.pages import Page

_LAST_GOOD = "_last_good_models"  # by what they read
_FAILED = "_failed_model"
_WANTED = "_wanted_model"  # a name whose download was asked for with the button


def current_trace(*, cross: bool = False) -> Trace:
    """The trace of the text or image by the chosen model; ends the page where there is none.

    A model that cannot be used is reported and the last usable one stands in, so that the page
    stays usable. With an encoder-decoder, the visitor chooses the kind of attention; `cross`
    attention has other tokens as keys than as queries, and not every page can show that.
    """
    if switch.reads() == "image":
        return _current_image()
    _end_unless_page_shows_texts()
    model = current_model()
    sidebar.show_model_facts(model)
    if model.is_encoder_decoder:
        kinds.choose(model, cross=cross)
    key = current_key(model.name)
    if not key[1].strip():
        st.info("**Type a sentence** above, or pick one of the examples beside it.")
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
    _suggest_head(trace)
    return trace


def _current_image() -> Trace:
    """The trace of the image; ends the page where it shows texts alone."""
    end_unless_page_shows_images()
    if question := navigation.opened().of_image:
        navigation.ask(question)
    model = current_model()
    sidebar.show_model_facts(model)
    image_row.pick_size(model)
    try:
        trace = cache.trace(*_image_key(model))
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    image_row.show_facts(trace)
    _suggest_known(model.name)
    return trace


def _suggest_known(model_name: str) -> None:
    """Pages of images begin with the head that the catalogue names, if it names one."""
    spec = catalog.find(model_name)
    if spec is None or spec.begin is None:
        controls.suggest()
    else:
        controls.suggest(layer=str(spec.begin[0]), head=str(spec.begin[1]))


def shown_input() -> str:
    """What is shown: the text, or the title of the image."""
    if switch.reads() == "image":
        return image_row.image_title()
    text: str = st.session_state["text"]
    return text


def end_unless_page_shows_images() -> None:
    """On a page for texts alone, say why it shows no image, and where to go; the page ends."""
    page = navigation.opened()
    if switch.reads() == "image" and "image" not in page.reads:
        _lead_on(page, f"{page.why_not} For images", "Show a sentence here", switch.show_text)


def _end_unless_page_shows_texts() -> None:
    """On a page for images alone, lead on where a text is shown; the page ends."""
    page = navigation.opened()
    if "text" in page.reads:
        return
    offered = switch.offers("image")
    why = "" if offered else ", and this site offers no model that reads them"
    label = "Show an image here" if offered else ""
    _lead_on(page, f"This page shows images{why}. For sentences", label, switch.show_image)


def _lead_on(page: Page, words: str, label: str, on_click: Callable[[], None]) -> NoReturn:
    """End the page with the way to the one that comes nearest, and a button that stays here."""
    nearest = find(page.instead)
    st.info(f"{words} there is another page:")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(nearest.path, label=f"**{nearest.title}**")
        if label:
            st.button(label, key="show_other_input", on_click=on_click)
    controls.end_page()


def shown_model() -> str:
    """The model on screen: the chosen one or, where that failed, the one that stands in."""
    name: str = st.session_state.get(_LAST_GOOD, {}).get(switch.reads(), "")
    return name


def found_head(trace: Trace) -> FoundLink | None:
    """The layer and head (from 0) worth showing first, and the pair of tokens that it joins.

    `trace` is that of the text on screen; None where no token has another to attend to.
    """
    return cache.found_link(current_key(trace.model))


def _suggest_head(trace: Trace) -> None:
    """Pages begin with the head that Home names, until the visitor picks another."""
    found = found_head(trace)
    if found is None:
        controls.suggest()
    else:
        controls.suggest(layer=str(trace.numbers[found.layer]), head=str(found.head + 1))


def current_key(model_name: str) -> cache.TraceKey:
    """What the trace on screen is cached by: the model's name, the texts, the kind of attention.

    Or the name of the image, and its size.
    """
    if switch.reads() == "image":
        return _image_key(cache.model(model_name, "image"))
    pair = st.session_state["pair"] if st.session_state["two"] else ""
    chosen = kinds.chosen() if cache.model(model_name).is_encoder_decoder else (None, None)
    return cache.TraceKey(model_name, st.session_state["text"], pair.strip() or None, *chosen)


def _image_key(model: LoadedModel) -> cache.TraceKey:
    return cache.TraceKey(
        model.name, "", image=image_row.image_name(), size=image_row.size_of(model)
    )


def current_model() -> LoadedModel:
    """The chosen model or, with a message, the last one that worked."""
    name = st.session_state["model"].strip()
    try:
        model = _load(name)
    except ModelError as error:
        st.session_state[_FAILED] = (name, error)
        sidebar.note_stand_in(stands_in=True)
        return _stand_in(name, error)
    st.session_state.setdefault(_LAST_GOOD, {})[switch.reads()] = name
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
        return cache.model(resolve(name, switch.reads()), switch.reads())
    except NotDownloadedError as missing:
        max_mb = max_download_mb()
        if max_mb is not None and missing.size_mb > max_mb:  # no button that would only refuse
            raise too_large(name, missing.size_mb, max_mb) from missing
        raise


def _stand_in(name: str, error: ModelError) -> LoadedModel:
    """The message, the way out, and the model shown until then."""
    show_model_error(error)
    reads = switch.reads()
    default = default_model(reads)
    fallback = st.session_state.get(_LAST_GOOD, {}).get(reads, default)
    try:
        key = resolve(fallback, reads)  # access may have changed since
    except ModelError:
        key = fallback = default
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
    return cache.model(key, reads)


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
