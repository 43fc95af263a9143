"""What components report, and the state of a view that changes its picture by itself.

Whoever opens a page can report anything: the readers give what can be, and nothing of the rest.

A view that draws what was chosen in it by itself reports all of its state, as "view", with its time
(``shared/reports.js``): of one that is what was reported last, before a link changed it, Streamlit
would say nothing. Other reports are triggers. Only a state from elsewhere (a link, an example, back
and forward) is sent to a view, under a new number; else its bytes stay the same, and are not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.components.scripts import register_component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

MAX_COUNT = 2**31  # of a count or a position that nothing else limits


def reported(key: str, name: str) -> Mapping[str, Any]:
    """What the component, chart or table with this `key` reports as `name`, unchecked."""
    return as_mapping(as_mapping(st.session_state.get(key)).get(name))


def as_mapping(value: object) -> Mapping[str, Any]:
    """`value` if it has names; else nothing."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """`value` if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def as_index(value: object, count: int = MAX_COUNT, first: int = 0) -> int | None:
    """`value` if it is a whole number from `first` to below `count`."""
    return value if type(value) is int and first <= value < count else None


def as_indices(value: object, count: int = MAX_COUNT) -> list[int]:
    """Of a list of up to `count` entries, those that are whole numbers from 0 to below `count`."""
    indices = (as_index(each, count) for each in as_list(value)[:count])
    return [index for index in indices if index is not None]


def view_of(name: str) -> partial[None]:
    """What draws the component `name` of its bytes, a `key`, and `on_view`.

    The same bytes again cost nothing to send. `on_view` is called with the changed state (as in
    links, untrusted): at once where the server must send something for it, else a moment later.
    """
    return partial(_show, register_component(name))


def _show(
    component: ComponentRenderer,
    data: bytes,
    *,
    key: str,
    on_view: Callable[[Mapping[str, Any]], None],
) -> None:
    component(key=key, data=data, on_view_change=lambda: on_view(reported(key, "view")))


def state_to_send(key: str, view: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The state to send to the component and its number; both stay while it shows `view`."""
    sent = st.session_state.setdefault(_place(key), {"view": None, "shown": {0: None}})
    serial, shown = max(sent["shown"]), sent["shown"]
    if key not in st.session_state:  # drawn anew, as after another page: from what it is sent
        shown[serial] = sent["view"]
    if view != shown[serial]:
        sent["view"] = dict(view)
        sent["shown"] = {serial: shown[serial], serial + 1: dict(view)}
        serial += 1
    return sent["view"], serial


def changes(key: str, view: Mapping[str, Any]) -> dict[str, Any]:
    """Of the state `view` that the component with this `key` reports, what people have changed.

    A report that was on its way while a state from elsewhere was sent says so by the number of the
    state before: what that has changed is not undone, and what people have changed is sent back.
    """
    serial = as_index(reported(key, "view").get("serial"))
    shown = as_mapping(st.session_state.get(_place(key))).get("shown", {})
    known = shown.get(serial) or {}
    if serial in shown:
        shown[serial] = {**known, **view}
    return {name: each for name, each in view.items() if name not in known or each != known[name]}


def _place(key: str) -> str:
    return f"_{key}_sent"
