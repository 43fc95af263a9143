"""The address bar holds the whole state, so that its address opens the very picture.

What a link says is handed out once to the control that has its name, which checks it
(``core.ui.controls``). Streamlit's own ``bind="query-params"`` leaves values out that equal a
default and drops impossible ones in silence; a link handed out in a class should neither depend on
a default nor fail silently.

Texts that would make the address too long travel in one parameter, `packed`, in a short form.
Whoever deploys the app can switch links off (``HEADSCOPE_LINKS=0``): then nothing is written into
the address, so that no log of a proxy holds what visitors type; links from elsewhere still open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.ui.link_text import pack, unpack
from core.ui.messages import notice, quote, start_notices
from core.ui.site.deployment import setting

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT = 10_000  # characters of a text; about four times what the longest page can show
# Bytes of a whole address. Proxies take a first line of 8,192 in all, with the method and the
# protocol around the address (nginx: large_client_header_buffers; Apache: LimitRequestLine).
MAX_ADDRESS = 7_500
_MAX_SITE = 200  # bytes of a site's own address where it is not known
_MAX_UNPACKED = 2 * 12 * MAX_TEXT  # bytes: two texts, each character escaped as JSON may have it
_TEXTS = ("text", "pair")
_LINK, _OPTIONAL = "_link", "_optional_parameters"


def open_link() -> None:
    """Take the parameters of a link in: on a visitor's first run, and on back and forward."""
    start_notices()
    context = get_script_run_ctx()
    moved = context is not None and getattr(context, "is_history_navigation", False)
    if _LINK in st.session_state and not moved:
        return
    written = _unpacked({key: value for key, value in st.query_params.to_dict().items() if value})
    # What an address leaves out is off: back and forward must switch it off again.
    off = dict.fromkeys(st.session_state.setdefault(_OPTIONAL, set()), "")
    st.session_state[_LINK] = off | written
    if moved or "pair" in written:
        st.session_state["two"] = "pair" in written


def take(key: str) -> str | None:
    """What the link says of this parameter, once; "" where it leaves out what was there before."""
    value: str | None = st.session_state[_LINK].pop(key, None)
    return value


def may_leave_out(key: str) -> None:
    """Back and forward set this parameter to its default where the address does not name it."""
    st.session_state[_OPTIONAL].add(key)


def asks_for(key: str) -> bool:
    """Whether the link names this parameter and it has not been taken in yet."""
    return bool(st.session_state[_LINK].get(key))


def links_are_on() -> bool:
    """Whether the address holds the state: not with ``HEADSCOPE_LINKS`` 0, off, no or false."""
    return (setting("LINKS") or "").strip().lower() not in {"0", "off", "no", "false"}


def write(values: Mapping[str, object]) -> None:
    """Write the state into the address.

    Texts too long for an address are packed; where even that is too long they are left out, and
    so is the page's own longest value, and that is said.
    """
    written = {key: _written(value) for key, value in values.items()}
    state = {key: value for key, value in written.items() if value is not None}
    state = _shortened(state) if links_are_on() else {}
    if st.query_params.to_dict() != state:
        st.query_params.from_dict(state)


def _shortened(state: dict[str, str]) -> dict[str, str]:
    """The state with an address of at most `MAX_ADDRESS` bytes; what that costs is said."""
    if _fits(state):
        return state
    texts = {key: state[key] for key in _TEXTS if key in state}
    others = {key: value for key, value in state.items() if key not in _TEXTS}
    packed = others | {"packed": pack(texts)}
    if _fits(packed):
        return packed
    st.sidebar.caption("The text is too long for a link: the link will not carry it.")
    while not _fits(others):
        longest = max(others, key=lambda key: len(urlencode({key: others[key]})))
        others = {key: value for key, value in others.items() if key != longest}
        st.sidebar.caption(f"The link will not carry {quote(longest)} either: it is too long.")
    return others


def _fits(state: dict[str, str]) -> bool:
    site = len(st.context.url or "") or _MAX_SITE
    return site + len("?") + len(urlencode(state)) <= MAX_ADDRESS


def _unpacked(written: dict[str, str]) -> dict[str, str]:
    """The parameters of a link with `packed` taken apart; what is written out goes before it."""
    packed = written.pop("packed", None)
    if packed is None:
        return written
    texts = unpack(packed, _MAX_UNPACKED)
    if texts is None:
        notice("The text of this link cannot be read: the link is damaged or was cut.")
        return written
    return {key: texts[key] for key in _TEXTS if texts.get(key)} | written


def _written(value: object) -> str | None:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ",".join(map(str, value)) or None
    return None if value is None else str(value)
