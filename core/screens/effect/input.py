"""What the heads of the effect page read: a text or an image, by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.serve import images

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace

MAX_TOKENS = 128  # of a text: passes take time, one for every head and random direction
_MAX_CUT = 16  # traces of 128 tokens


def model_of(key: TraceKey) -> LoadedModel:
    """The model that the effects are of."""
    return cache.model(key.model, key.modality)


def text_of(key: TraceKey) -> Any:  # noqa: ANN401 - a text or an image
    """What the model reads."""
    return key.text if key.image is None else images.pixels(key.image)


def limits(key: TraceKey) -> Any:  # noqa: ANN401 - options of several functions
    """The second text, and how much of a text is read."""
    return {"pair": key.pair, "max_tokens": MAX_TOKENS}


@st.cache_resource(max_entries=_MAX_CUT, show_spinner="Running the text through the model …")
def _cut(key: TraceKey) -> Trace:
    from core.model import trace_text

    return trace_text(model_of(key), key.text, key.pair, MAX_TOKENS, decode=False)


def measured_trace(trace: Trace, key: TraceKey) -> Trace:
    """The trace of as much of a text as is measured."""
    return _cut(key) if key.image is None and len(trace.tokens) > MAX_TOKENS else trace
