"""The head view: its state in link, session and picture, the data sent, and the saved file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis import layer_payload
from core.analysis.layer_payload import LayerPayload, drawn_size
from core.components.export import standalone_page
from core.components.head_view import (
    ALL_LAYERS_BYTES,
    HeadView,
    WeightingOption,
    pack_head_view,
)
from core.components.reported_state import as_indices, changes, state_to_send
from core.figures.palette import token_colours
from core.model.opening import catalog
from core.model.trace import Array
from core.model.weights.output_projection import output_projections
from core.ui import address, cache, controls, place
from core.ui.cache import TraceKey, first_model
from core.ui.current import current_key, found_head
from core.ui.downloads import Contents
from core.ui.place import pick_pairs

if TYPE_CHECKING:
    from core.model import Trace

KEY = "head_view"  # the component's
MAX_VIEW_LAYERS = 6  # kept; one takes 3 MB at 512 tokens, 17 MB at 1,024 tokens and 16 heads
# Below this size the saved file holds all layers; base64 adds a third.
ALL_LAYERS_IN_FILE = 12_000_000
_MAX_QUOTE = 300  # characters of the text quoted in the saved file's note
_NAMES = {"attention": "attention", "value": "× |value|", "transformed": "× |f(value)|"}
_CHOICES = ("layer", "pairs", "weigh")
_NUMBERS = ("heads", "from", "to")  # heads: an empty list means all of them, 0 means none
_FIRST = "_head_view_first"  # the heads that were on before the visitor picked any
_SEEN = "_head_view_seen"  # the head shared by all pages when this page was last open


def restore_view(trace: Trace, weightings: Sequence[str]) -> dict[str, Any]:
    """The state, from the link if it has one, checked against what this text allows.

    `weightings` are the ones available for this model.
    """
    heads = trace.shape[1]
    linked = address.take("head") or ""
    if linked in map(str, range(1, heads + 1)) and not address.asks_for("heads"):
        st.session_state["heads"] = [int(linked)]  # a link to one head, such as the heatmap's
    has_link = address.asks_for("layer") or address.asks_for("heads")
    layer = place.layer(trace)
    if not has_link:
        _show_one_head(trace, layer)
    choices = {
        "layer": str(trace.layer_labels[layer]),
        "pairs": pick_pairs(trace, key="pairs"),
        "weigh": controls.choice("weigh", weightings, subject="The weights are"),
    }
    hide = controls.flag("hide")
    queries, keys = (range(1, len(side) + 1) for side in (trace.tokens, trace.key_tokens))
    allowed = {"heads": range(heads + 1), "from": queries, "to": keys}
    numbers = {key: sorted(set(controls.tokens(key, each))) for key, each in allowed.items()}
    on = [number for number in numbers["heads"] if number > 0]
    if on:
        numbers["heads"] = [] if len(on) == heads else on
    numbers["from"] = numbers["from"][:1]
    numbers["to"] = [] if numbers["from"] else numbers["to"][:1]  # at most one token is pinned
    st.session_state.update(numbers)
    if len(on) == 1:
        st.session_state["head"] = st.session_state[_SEEN] = str(on[0])
    return {**choices, "hide": hide, **numbers}


def _show_one_head(trace: Trace, layer: int) -> None:
    """Until the visitor picks, turn on only the head found on this text: all at once would hide it.

    For an image it is the head that the catalogue names. A head picked on another page is kept.
    """
    state, link = st.session_state, found_head(trace)
    picked = state.get("head", "")
    if picked in map(str, range(1, trace.shape[1] + 1)) and picked != state.get(_SEEN):
        state["heads"] = [int(picked)]
    elif "heads" in state and state["heads"] != state.get(_FIRST):
        return
    elif link is not None and link.layer == layer:
        state["heads"] = [link.head + 1]
    elif "heads" not in state and not trace.input.has_words:
        state["heads"] = [_head_of_catalogue(trace, layer) or 1]
    else:
        return
    state[_FIRST] = state["heads"]


def _head_of_catalogue(trace: Trace, layer: int) -> int | None:
    """The head (from 1) in this layer (from 0) that the catalogue says to open with, if any."""
    spec = catalog.find_entry(trace.model)
    begin = None if spec is None else spec.begin
    return begin[1] if begin is not None and begin[0] == trace.layer_labels[layer] else None


def link_to_name(trace: Trace) -> dict[str, int] | None:
    """The link that Home shows, if it joins two words: its layer by number, the rest from 0."""
    link = found_head(trace)
    if link is None or not link.joins_words:
        return None
    places = {"head": link.head, "query": link.query, "key": link.key}
    return {"layer": trace.layer_labels[link.layer], **places}


def take_report(view: Mapping[str, Any]) -> None:
    """Store the state that the component reports in the session; ignore anything else."""
    kinds = dict.fromkeys(_CHOICES, str) | {"hide": bool}
    report = {key: view[key] for key, kind in kinds.items() if isinstance(view.get(key), kind)}
    report |= {key: as_indices(view[key]) for key in _NUMBERS if isinstance(view.get(key), list)}
    controls.pick(**changes(KEY, report))


@st.cache_resource(max_entries=MAX_VIEW_LAYERS, show_spinner=False)
def _view_layer(key: TraceKey, layer: int, weigh: layer_payload.Weighting) -> LayerPayload:
    """A layer in the form that the head view takes, from :meth:`LayerPayload.drawn`."""
    norms = cache.transformed_norms(key) if weigh == "transformed" else None
    return LayerPayload.drawn(cache.trace(*key), layer, weigh, norms)


def weightings(trace: Trace) -> list[WeightingOption]:
    """The weightings that lines can show for this model."""
    known = first_model.is_awaited()  # for the first model it is known
    if not known:
        model = cache.model_of(trace)
        known = output_projections(model, trace.attention_type) is not None
    meanings = {
        "attention": "The weights after softmax",
        "value": "Attention times the length of the value it brings",
        "transformed": "Attention times the length of a token's part in what the head adds"
        if known
        else f"Where {trace.model} keeps its output projection is not known",
    }
    return [
        WeightingOption(name, _NAMES[name], meaning, disabled=name == "transformed" and not known)
        for name, meaning in meanings.items()
    ]


def pack_for_page(
    trace: Trace, view: Mapping[str, Any], offered: Sequence[WeightingOption], held: Contents
) -> bytes:
    """All layers if they are few and short, else the one shown."""
    key, sends_all = current_key(trace.model), _size(trace) <= ALL_LAYERS_BYTES
    sent, serial = state_to_send(KEY, view)
    indices = range(trace.shape[0]) if sends_all else (_shown_layer(trace, view),)
    layers = {layer: _view_layer(key, layer, view["weigh"]) for layer in indices}
    link = link_to_name(trace)
    return _pack(trace, sent, serial, offered, held, link, view["weigh"], layers)


def file_later(
    trace: Trace, view: Mapping[str, Any], offered: Sequence[WeightingOption], held: Contents
) -> Callable[[], str]:
    """A function that writes the head view as one HTML file, in the state on screen.

    It uses neither cache nor session: Streamlit calls it outside a run of the page.
    """
    key = current_key(trace.model)
    norms = cache.transformed_norms(key) if view["weigh"] == "transformed" else None
    pack = partial(_pack, trace, view, 0, offered, held, link_to_name(trace), view["weigh"])
    return partial(_write_file, trace, view, key, norms, held, pack)


def _write_file(
    trace: Trace,
    view: Mapping[str, Any],
    key: TraceKey,
    norms: Array | None,
    export: Contents,
    pack: Callable[[dict[int, LayerPayload]], bytes],
) -> str:
    layers, size = range(trace.shape[0]), _size(trace)
    content = f"All {len(layers)} layers are in this file"
    if size > ALL_LAYERS_IN_FILE:
        content = (
            f"Layer {view['layer']} of {len(layers)} is in this file (all of them would take"
            f" {size / 1e6:,.0f} MB)"
        )
        layers = layers[_shown_layer(trace, view) :][:1]
    text = trace.input.quoted(" / ".join(filter(None, (key.text, key.pair))))
    if len(text) > _MAX_QUOTE:
        text = text[: _MAX_QUOTE - 1] + "…"
    note = f"{text} — {content}, weighted by {_NAMES[view['weigh']]}."
    data = pack({layer: LayerPayload.drawn(trace, layer, view["weigh"], norms) for layer in layers})
    title = f"Head view of {trace.model}"
    return standalone_page("head_view", data, title, note, facts=export.facts)


def _shown_layer(trace: Trace, view: Mapping[str, Any]) -> int:
    """The index of the layer on screen."""
    return trace.layer_labels.index(int(view["layer"]))


def _size(trace: Trace) -> int:
    """The size of all layers, in bytes."""
    return sum(drawn_size(trace, layer) for layer in range(trace.shape[0]))


def _pack(
    trace: Trace,
    view: Mapping[str, Any],
    serial: int,
    offered: Sequence[WeightingOption],
    export: Contents,
    link: Mapping[str, int] | None,
    weigh: layer_payload.Weighting,
    layers: Mapping[int, LayerPayload],
) -> bytes:
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    facts = HeadView(view, serial, offered, colours, link, export.titled("Attention"))
    return pack_head_view(trace, layers, weigh, facts)
