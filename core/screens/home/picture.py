"""Home's picture: what is sent of a model, and what may be said of the pair it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.layer_payload import LayerPayload, vectors_size
from core.analysis.strongest_link import Link, strongest_links
from core.components.arcs import ArcsView, pack_arcs, show_arcs
from core.components.reported_state import state_to_send
from core.screens.home.state import KEY, restore_view, take_report
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.current import current_key, found_head
from core.ui.downloads import contents
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
# Below it all layers are sent, and choosing a head needs no server: 66 tokens of a model with 6
# layers of 12 heads take 1.3 MB, 20 tokens of one with 12 layers 1.5 MB.
ALL_LAYERS_BYTES = 2_000_000
# How many of each are kept for all visitors; a layer of 512 tokens has 1.6 MB.
_MAX_LAYERS, _MAX_LINKS = 12, 32


@st.cache_resource(max_entries=_MAX_LAYERS, show_spinner=False)
def _layer(key: TraceKey, layer: int) -> LayerPayload:
    return LayerPayload.of(cache.trace(*key), layer)


@st.cache_resource(max_entries=_MAX_LINKS, show_spinner=False)
def _links(key: TraceKey) -> list[list[Link]]:
    return strongest_links(cache.trace(*key))


def show_picture(trace: Trace) -> None:
    """Draw it, beginning with the strongest link, or say that one word has no other."""
    link = found_head(trace)
    if link is None:
        st.markdown(_words("one_word"))
        return
    # Before the controls are declared: the component knows the head better, and the bytes stay as
    # they are when it reports another.
    held = contents("home", trace.model, "")
    view = restore_view(trace, link)
    sent, serial = state_to_send(KEY, view)
    links = _links(current_key(trace.model))
    layers = _wanted(trace, view)
    apart = abs(link.query - link.key)
    tail = _words("tail", apart=apart, layer=trace.layer_labels[link.layer], mean=link.mean)
    facts = ArcsView(sent, serial, link, tail, links, held.titled("Attention as arcs"))
    show_arcs(pack_arcs(trace, layers, facts), key=KEY, on_view=take_report)
    st.caption(_words("arcs", joins_words=link.joins_words))


def _wanted(trace: Trace, view: Mapping[str, Any]) -> dict[int, LayerPayload]:
    """All layers if they are few and short, else the one on screen."""
    key, layers = current_key(trace.model), range(trace.shape[0])
    if sum(vectors_size(trace, layer) for layer in layers) > ALL_LAYERS_BYTES:
        layers = layers[trace.layer_labels.index(int(view["layer"])) :][:1]
    return {layer: _layer(key, layer) for layer in layers}
