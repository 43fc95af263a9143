"""What components report, and the state of views that redraw themselves.

Anyone who opens a page can report anything: the readers return what is valid and drop the rest.

A view that redraws itself reports its whole state as "view", with a timestamp
(``shared/reports.js``): Streamlit ignores a state equal to the last one reported, even if a link
has changed the view since. Other reports are triggers. Only a state from elsewhere (a link, an
example, back and forward) is sent to a view, under a new number; else its bytes stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.components.scripts import register_component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

MAX_COUNT = 2**31  # for counts and positions without a limit of their own


def reported(key: str, name: str) -> Mapping[str, Any]:
    """What the component, chart or table with this `key` reports as `name`, unchecked."""
    return as_mapping(as_mapping(st.session_state.get(key)).get(name))


def as_mapping(value: object) -> Mapping[str, Any]:
    """`value` if it is a mapping; else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """`value` if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def as_index(value: object, count: int = MAX_COUNT, first: int = 0) -> int | None:
    """`value` if it is a whole number from `first` to below `count`; else None."""
    return value if type(value) is int and first <= value < count else None


def as_indices(value: object, count: int = MAX_COUNT) -> list[int]:
    """The whole numbers from 0 to below `count` among the first `count` entries of a list."""
    indices = (as_index(each, count) for each in as_list(value)[:count])
    return [index for index in indices if index is not None]


def view_of(name: str) -> partial[None]:
    """A function that draws the component `name` from its bytes, a `key` and `on_view`.

    Sending the same bytes again costs nothing. `on_view` is called with the changed state (as in
    links, untrusted): at once if the server must send something for it, else a moment later.
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
    """The state to send to the component, and its number; unchanged while it shows `view`."""
    sent = st.session_state.setdefault(_place(key), {"view": None, "shown": {0: None}})
    serial, shown = max(sent["shown"]), sent["shown"]
    if key not in st.session_state:  # mounted anew, as after another page
        shown[serial] = sent["view"]
    if view != shown[serial]:
        sent["view"] = dict(view)
        sent["shown"] = {serial: shown[serial], serial + 1: dict(view)}
        serial += 1
    return sent["view"], serial


def changes(key: str, view: Mapping[str, Any]) -> dict[str, Any]:
    """What people have changed in the state `view` that the component with this `key` reports.

    A report that crosses with a state from elsewhere still carries the number of the state before:
    what the new state changed is not undone, and what people changed is sent back.
    """
    serial = as_index(reported(key, "view").get("serial"))
    shown = as_mapping(st.session_state.get(_place(key))).get("shown", {})
    known = shown.get(serial) or {}
    if serial in shown:
        shown[serial] = {**known, **view}
    return {name: each for name, each in view.items() if name not in known or each != known[name]}


def _place(key: str) -> str:
    return f"_{key}_sent"
