"""The state of a view that changes its picture by itself and reports it a moment later.

Only a state from elsewhere (a link, an example, back and forward) is sent to the component, under a
new number; otherwise the bytes stay the same, and Streamlit does not send them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    reported = (st.session_state.get(key) or {}).values()
    mounted = any(each is not None for each in reported)
    # A component that is drawn anew, as after another page, starts from what it is sent.
    if view != (sent["shown"] if mounted else sent["view"]):
        sent = {"view": dict(view), "serial": sent["serial"] + 1, "shown": dict(view)}
        st.session_state[_place(key)] = sent
    return sent["view"], sent["serial"]


def _place(key: str) -> str:
    return f"_{key}_sent"
