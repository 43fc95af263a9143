"""The sentence of a token of the atlas, and what the head on screen attends to in it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.view_weights import payload_size, weighted_layer
from core.components.head_view import HeadView, Weighting, pack_head_view, show_head_view
from core.figures.palette import token_colours
from core.model import ModelError
from core.ui import cache, sidebar
from core.ui.head_view_data import ALL_LAYERS_BYTES
from core.ui.messages import quote, show_model_error

if TYPE_CHECKING:
    from core.model import Trace
    from core.ui.atlas.screen import Screen

_ATTENTION = Weighting("attention", "attention", "The weights after softmax")


def show_sentence(screen: Screen, token: int) -> None:
    """The sentence with the token, and the head view of it where the model is at hand."""
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
    trace = _trace(screen, text)
    if trace is None:
        return
    if place >= len(trace.tokens):
        st.caption("The model reads this sentence differently when it is alone.")
        return
    data = _packed(trace, screen, place)
    show_head_view(data, key="atlas_sentence", on_view=_take)
    st.caption(f"{screen.name} in this sentence. Choose layer and head above the cloud.")


def _trace(screen: Screen, text: str) -> Trace | None:
    """The sentence through the model again; None, with a message, where that cannot be."""
    name = screen.atlas.model
    allowed = sidebar.offered_models()
    if allowed is not None and name not in allowed:
        st.caption(f"Its attention needs the model {quote(name)}, which this site does not offer.")
        return None
    try:
        return cache.trace(name, text, None)
    except ModelError as error:
        st.caption("What the head attends to here needs the model:")
        show_model_error(error)
        return None


def _packed(trace: Trace, screen: Screen, place: int) -> bytes:
    layers, heads = trace.shape[:2]
    sizes = [payload_size(trace, layer) for layer in range(layers)]
    sent = range(layers) if sum(sizes) <= ALL_LAYERS_BYTES else (screen.layer,)
    view: dict[str, Any] = {
        "layer": str(screen.layer + 1),
        "pairs": "all",
        "least": "auto",
        "weigh": "attention",
        "hide": False,
        "renorm": False,
        "what": False,
        "heads": [screen.head + 1],
        "without": [],
        "from": [place + 1],
        "to": [],
    }
    colours = {theme: token_colours(heads, theme) for theme in ("light", "dark")}
    serial = zlib.crc32(repr((sorted(view.items(), key=str), trace.tokens)).encode())
    facts = HeadView(view, serial, [_ATTENTION], colours)
    chosen = {layer: weighted_layer(trace, layer, "attention") for layer in sent}
    return pack_head_view(trace, chosen, "attention", facts)


def _take(view: object) -> None:
    """A layer chosen in the view becomes the page's, and so does a head shown alone."""
    if not isinstance(view, dict):
        return
    layer, heads = view.get("layer"), view.get("heads")
    if isinstance(layer, str) and layer.isdigit():
        st.session_state["layer"] = layer
    if isinstance(heads, list) and len(heads) == 1 and isinstance(heads[0], int) and heads[0] > 0:
        st.session_state["head"] = str(heads[0])
