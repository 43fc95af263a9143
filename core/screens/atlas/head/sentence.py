"""The sentence of a token of the atlas, and what the head on screen attends to in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.view_weights import payload_size, weighted_layer
from core.components.head_view import ALL_LAYERS_BYTES, Weighting
from core.model import ModelError
from core.screens.atlas.head.lines import show_lines
from core.screens.atlas.rerun import model_of, reads_alike
from core.ui import cache
from core.ui.messages import quote, show_model_error

if TYPE_CHECKING:
    from core.analysis.view_weights import LayerWeights
    from core.model import Trace
    from core.screens.atlas.screen import Screen

_ATTENTION = Weighting("attention", "attention", "The weights after softmax")


def show_sentence(screen: Screen, token: int) -> Trace | None:
    """The sentence with the token, and the head view of it where the model is at hand.

    Returns what the model makes of the sentence; None where it is not at hand, which is said.
    """
    columns = screen.atlas.tokens
    sentence = int(columns.sentence[token])
    text = screen.atlas.sentences[sentence]
    place = int(columns.position[token])
    label = f" · {quote(screen.atlas.labels[sentence])}" if screen.atlas.labels else ""
    st.markdown(
        f"Token **{place + 1}**, {quote(columns.displays[token])}, of sentence"
        f" {sentence + 1}{label}:"
    )
    st.text(text)
    trace = _trace(screen, sentence)
    if trace is None:
        return None
    layers = _layers(trace, screen.layer)
    show_lines(trace, layers, screen, _ATTENTION, key="atlas_sentence", pinned=[place])
    st.caption(f"{screen.name} in this sentence. Choose layer and head above the cloud.")
    return trace


def _trace(screen: Screen, sentence: int) -> Trace | None:
    model = model_of(screen.atlas)
    if model is None:
        return None
    try:
        trace = cache.trace(model.name, screen.atlas.sentences[sentence], None)
    except ModelError as error:
        show_model_error(error)
        return None
    if not reads_alike(screen.atlas, sentence, trace):
        st.caption("The model reads this sentence differently when it is alone.")
        return None
    return trace


def _layers(trace: Trace, layer: int) -> dict[int, LayerWeights]:
    """All layers of a short sentence, else the one on screen."""
    layers = range(trace.shape[0])
    whole = sum(payload_size(trace, each) for each in layers) <= ALL_LAYERS_BYTES
    return {
        each: weighted_layer(trace, each, "attention") for each in (layers if whole else [layer])
    }
