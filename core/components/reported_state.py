"""What components report, and the state of a view that changes its picture by itself.

Whoever opens a page can report anything: the readers give what can be, and nothing of the rest.

States travel in one of two ways. What a click picks is a control of the page, which draws the
component anew. A view that draws what was chosen in it by itself (head and neuron view, the table,
patches, maps of CLS, one head of an atlas) reports its state afterwards; only a state from
elsewhere (a link, an example, back and forward) is sent to it, under a new number; otherwise the
bytes stay the same, and Streamlit does not send them again. Clicks of the first kind are triggers:
a state that is what was reported last, before a link changed it, would say nothing to the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

MOST = 2**31  # of a count or a position that nothing else limits


def reported(key: str, name: str) -> object:
    """What the component, chart or table with this `key` reports as `name`, unchecked."""
    return as_mapping(st.session_state.get(key)).get(name)


def as_mapping(value: object) -> Mapping[str, Any]:
    """`value` if it has names; else nothing."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """`value` if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def as_index(value: object, count: int = MOST, first: int = 0) -> int | None:
    """`value` if it is a whole number from `first` to below `count`."""
    return value if type(value) is int and first <= value < count else None


def as_indices(value: object, count: int = MOST) -> list[int]:
    """Of a list of up to `count` entries, those that are whole numbers from 0 to below `count`."""
    indices = (as_index(each, count) for each in as_list(value)[:count])
    return [index for index in indices if index is not None]


def as_numbers(value: object, most: float) -> list[float] | None:
    """A list of finite numbers of size `most` at most, as floats; None if `value` is no such."""
    if not isinstance(value, list):
        return None
    if not all(type(each) in (int, float) and abs(each) <= most for each in value):
        return None
    return [float(each) for each in value]


def note_report(key: str, view: Mapping[str, Any], serial: int | None = None) -> None:
    """Remember that the component with this `key` shows `view`, or these parts of it, as reported.

    A report that was on its way while a state from elsewhere was sent says so by the number
    (`serial`) of the state before. What it says is not what is shown then, so it is sent once more.
    """
    sent = st.session_state.get(_place(key))
    if sent is not None and serial in (None, sent["serial"]):
        st.session_state[_place(key)] = {**sent, "shown": {**sent["shown"], **view}}


def state_to_send(key: str, view: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The state to send to the component and its number; both stay while it shows `view`."""
    start = {"view": None, "serial": 0, "shown": None}
    sent: dict[str, Any] = st.session_state.get(_place(key), start)
    states = as_mapping(st.session_state.get(key)).values()
    mounted = any(each is not None for each in states)
    # A component that is drawn anew, as after another page, starts from what it is sent.
    if view != (sent["shown"] if mounted else sent["view"]):
        sent = {"view": dict(view), "serial": sent["serial"] + 1, "shown": dict(view)}
        st.session_state[_place(key)] = sent
    return sent["view"], sent["serial"]


def _place(key: str) -> str:
    return f"_{key}_sent"
