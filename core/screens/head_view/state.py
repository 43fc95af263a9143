"""The head view's state: in the link, in the session, and in the component that people click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.components.reported_state import as_indices, changes
from core.model.opening import catalog
from core.ui import address, controls, place
from core.ui.current import found_head
from core.ui.selectors import pick_pairs

if TYPE_CHECKING:
    from core.model import Trace

KEY = "head_view"  # of the component
_CHOICES = ("layer", "pairs", "weigh")
_NUMBERS = ("heads", "from", "to")  # heads: an empty list is all of them, 0 is none
_FIRST = "_head_view_first"  # the heads that were on before anyone picked
_SEEN = "_head_view_seen"  # the head of all pages when this one was last open


def restore_view(trace: Trace, weightings: Sequence[str]) -> dict[str, Any]:
    """The state, from the link where it has one, checked against what this text allows.

    `weightings` are those that this model has.
    """
    heads = trace.shape[1]
    linked = address.take("head") or ""
    if linked in map(str, range(1, heads + 1)) and not address.asks_for("heads"):
        st.session_state["heads"] = [int(linked)]  # a link to one head, as of the table
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
    layer_labels = {key: sorted(set(controls.tokens(key, each))) for key, each in allowed.items()}
    on = [number for number in layer_labels["heads"] if number > 0]
    if on:
        layer_labels["heads"] = [] if len(on) == heads else on
    layer_labels["from"] = layer_labels["from"][:1]
    layer_labels["to"] = (
        [] if layer_labels["from"] else layer_labels["to"][:1]
    )  # at most one token is pinned
    st.session_state.update(layer_labels)
    if len(on) == 1:
        st.session_state["head"] = st.session_state[_SEEN] = str(on[0])
    return {**choices, "hide": hide, **layer_labels}


def _show_one_head(trace: Trace, layer: int) -> None:
    """Before anyone picks, turn on the head found on this text alone: all at once hide it.

    Of an image it is the head that the catalogue names. One that was picked on another page is
    kept.
    """
    state, found = st.session_state, found_head(trace)
    picked = state.get("head", "")
    if picked in map(str, range(1, trace.shape[1] + 1)) and picked != state.get(_SEEN):
        state["heads"] = [int(picked)]
    elif "heads" in state and state["heads"] != state.get(_FIRST):
        return
    elif found is not None and found.layer == layer:
        state["heads"] = [found.head + 1]
    elif "heads" not in state and not trace.input.has_words:
        state["heads"] = [_head_of_catalogue(trace, layer) or 1]
    else:
        return
    state[_FIRST] = state["heads"]


def _head_of_catalogue(trace: Trace, layer: int) -> int | None:
    """The head (from 1) of that layer (from 0) that the catalogue names to begin with, if any."""
    spec = catalog.find(trace.model)
    begin = None if spec is None else spec.begin
    return begin[1] if begin is not None and begin[0] == trace.layer_labels[layer] else None


def link_to_name(trace: Trace) -> dict[str, int] | None:
    """The link that Home shows, if it joins two words: its layer by number, the others from 0."""
    found = found_head(trace)
    if found is None or not found.joins_words:
        return None
    places = {"head": found.head, "query": found.query, "key": found.key}
    return {"layer": trace.layer_labels[found.layer], **places}


def take_report(view: Mapping[str, Any]) -> None:
    """Put what the component reports into the session; ignore anything that is not a state."""
    kinds = dict.fromkeys(_CHOICES, str) | {"hide": bool}
    report = {key: view[key] for key, kind in kinds.items() if isinstance(view.get(key), kind)}
    report |= {key: as_indices(view[key]) for key in _NUMBERS if isinstance(view.get(key), list)}
    controls.pick(**changes(KEY, report))
