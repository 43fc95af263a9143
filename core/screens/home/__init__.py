"""Home's picture: its state, the data sent, its words; and the links to other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.layer_payload import LayerPayload, vectors_size
from core.analysis.strongest_link import FoundLink, Link, strongest_links
from core.components.arcs import ArcsView, pack_arcs, show_arcs
from core.components.reported_state import as_index, as_indices, changes, state_to_send
from core.ui import address, cache, controls
from core.ui.cache import TraceKey
from core.ui.current import current_key, found_head
from core.ui.downloads import contents
from core.ui.place import CELL, SUMMARIES, choose_head, pinned_pair
from core.ui.words.pages import find_page
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
# Below this size all layers are sent, and choosing a head needs no server: with 12 heads per
# layer, 66 tokens and 6 layers take 1.3 MB, 20 tokens and 12 layers 1.5 MB.
ALL_LAYERS_BYTES = 2_000_000
# How many of each are kept for all visitors; a layer at 512 tokens takes 1.6 MB.
_MAX_LAYERS, _MAX_LINKS = 12, 32
# What one does on each page.
_DOORS = {
    "lessons": "Start with a lesson",
    "head_view": "Read one head",
    "heatmap": "Read the numbers",
    "vectors": "See tokens as arrows",
    "projection": "Compare two words",
    "query_key": "See queries and keys",
    "anomalies": "Find unusual heads",
    "images": "Look at images",
}
_IN_ROW = 4
KEY = "home_arcs"  # the component's


def restore_view(trace: Trace, link: FoundLink) -> dict[str, Any]:
    """The state, with numbers as people read them; at first that of `link`, with no word pinned."""
    layers, heads = trace.layer_labels, range(1, trace.shape[1] + 1)
    subject = f"{trace.model} has {len(layers)} layers that attend"
    layer = _pick("layer", layers, layers[link.layer], subject)
    head = _pick("head", heads, link.head + 1, f"{trace.model} has {len(heads)} heads a layer")
    is_linked = address.asks_for(CELL)
    cell = list(pinned_pair(trace))
    if is_linked:  # on other pages a link counts as a pick
        st.session_state.update(heads=[int(head)], **_elsewhere(cell))
    return {"layer": layer, "head": int(head), "cell": cell}


def _pick(key: str, numbers: Sequence[int], default: int, subject: str) -> str:
    """Pick one of the numbers; a summary shown on another page, such as the mean, stays there."""
    if st.session_state.get(key) in SUMMARIES and not address.asks_for(key):
        return str(default)
    options = list(map(str, numbers))
    return controls.choice(key, options, subject=subject, default=str(default), optional=True)


def take_report(view: Mapping[str, Any]) -> None:
    """Pick for all pages what was chosen in the picture; ignore anything that is not a state."""
    layer, head = view.get("layer"), as_index(view.get("head"), first=1)
    cell = as_indices(view.get("cell"))
    if not isinstance(layer, str) or not layer.isdecimal() or head is None:
        return
    if len(cell) != 2:
        cell = []
    if changes(KEY, {"layer": layer, "head": head, "cell": cell}):
        choose_head(int(layer), head, heads=[head], to=[], cell=cell, **_elsewhere(cell))


def _elsewhere(cell: list[int]) -> dict[str, Any]:
    """Set the query and the key under the names that other pages use."""
    if not cell:
        return {"from": []}
    query, key = map(str, cell)
    return {"from": cell[:1], "query": query, "key_token": key}


@st.cache_resource(max_entries=_MAX_LAYERS, show_spinner=False)
def _layer(key: TraceKey, layer: int) -> LayerPayload:
    return LayerPayload.of(cache.trace(*key), layer)


@st.cache_resource(max_entries=_MAX_LINKS, show_spinner=False)
def _links(key: TraceKey) -> list[list[Link]]:
    return strongest_links(cache.trace(*key))


def show_picture(trace: Trace) -> None:
    """Draw the picture, opening on the strongest link; or say that one word alone has no link."""
    link = found_head(trace)
    if link is None:
        st.markdown(_words("one_word"))
        return
    # Before the controls are declared: the component knows the head already, and its data stays
    # the same when it reports another.
    export = contents("home", trace.model, "")
    view = restore_view(trace, link)
    sent, serial = state_to_send(KEY, view)
    links = _links(current_key(trace.model))
    layers = _wanted(trace, view)
    apart = abs(link.query - link.key)
    tail = _words("tail", apart=apart, layer=trace.layer_labels[link.layer], mean=link.mean)
    facts = ArcsView(sent, serial, link, tail, links, export.titled("Attention as arcs"))
    show_arcs(pack_arcs(trace, layers, facts), key=KEY, on_view=take_report)
    st.caption(_words("arcs", joins_words=link.joins_words))


def _wanted(trace: Trace, view: Mapping[str, Any]) -> dict[int, LayerPayload]:
    """The layers to send: all if they are few and short, else the one on screen."""
    key, layers = current_key(trace.model), range(trace.shape[0])
    if sum(vectors_size(trace, layer) for layer in layers) > ALL_LAYERS_BYTES:
        layers = layers[trace.layer_labels.index(int(view["layer"])) :][:1]
    return {layer: _layer(key, layer) for layer in layers}


def show_doors() -> None:
    """Draw a link to each page, with the question that it answers."""
    columns = [*st.columns(_IN_ROW), *st.columns(_IN_ROW)]
    for column, (name, label) in zip(columns, _DOORS.items(), strict=False):
        page = find_page(name)
        with column.container(border=True, height="stretch"):
            st.page_link(page.path, label=f"**{label}**")
            st.caption(page.question)
    st.caption("All other pages are in the menu.")
