"""The head and the pair of Home's picture: in the link, in the session, and in the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.strongest_link import FoundLink
from core.components.reported_state import as_index, as_indices, changes
from core.ui import address, controls
from core.ui.held_cell import CELL, held_cell
from core.ui.place import SUMMARIES, choose_head

if TYPE_CHECKING:
    from core.model import Trace

KEY = "home_arcs"  # of the component


def restore_view(trace: Trace, link: FoundLink) -> dict[str, Any]:
    """The state by the numbers that people read, at first that of `link`, with no word kept."""
    layers, heads = trace.layer_labels, range(1, trace.shape[1] + 1)
    subject = f"{trace.model} has {len(layers)} layers that attend"
    layer = _pick("layer", layers, layers[link.layer], subject)
    head = _pick("head", heads, link.head + 1, f"{trace.model} has {len(heads)} heads a layer")
    is_linked = address.asks_for(CELL)
    cell = list(held_cell(trace))
    if is_linked:  # other pages follow a link as they follow a pick
        st.session_state.update(heads=[int(head)], **_elsewhere(cell))
    return {"layer": layer, "head": int(head), "cell": cell}


def _pick(key: str, numbers: Sequence[int], default: int, subject: str) -> str:
    """One of the numbers; a summary that another page shows, such as the mean, stays there."""
    if st.session_state.get(key) in SUMMARIES and not address.asks_for(key):
        return str(default)
    options = list(map(str, numbers))
    return controls.choice(key, options, subject=subject, default=str(default), optional=True)


def take_report(view: Mapping[str, Any]) -> None:
    """Pick on all pages what was chosen in the picture; ignore anything that is not a state."""
    layer, head = view.get("layer"), as_index(view.get("head"), first=1)
    cell = as_indices(view.get("cell"))
    if not isinstance(layer, str) or not layer.isdecimal() or head is None:
        return
    if len(cell) != 2:
        cell = []
    if changes(KEY, {"layer": layer, "head": head, "cell": cell}):
        choose_head(int(layer), head, heads=[head], to=[], cell=cell, **_elsewhere(cell))


def _elsewhere(cell: list[int]) -> dict[str, Any]:
    """What other pages call the query and the key."""
    if not cell:
        return {"from": []}
    query, key = map(str, cell)
    return {"from": cell[:1], "query": query, "key_token": key}
