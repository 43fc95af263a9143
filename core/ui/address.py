"""The address bar holds the whole state, so that its address opens the very picture.

Values of a link are untrusted: each is checked against what is possible before it becomes the
state of a widget; what is not possible is told and replaced. State lives in ``st.session_state``
under the name of the link parameter, which is also the widget's key. Streamlit's own
``bind="query-params"`` leaves values out that equal a default and drops impossible ones in
silence; a link handed out in a class should neither depend on a default nor fail silently.

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
    from collections.abc import Mapping, Sequence

MAX_TEXT = 10_000  # characters of a text; about four times what the longest page can show
# Bytes of a whole address. Proxies take a first line of 8,192 in all, with the method and the
# protocol around the address (nginx: large_client_header_buffers; Apache: LimitRequestLine).
MAX_ADDRESS = 7_500
_MAX_SITE = 200  # bytes of a site's own address where it is not known
_MAX_UNPACKED = 2 * 12 * MAX_TEXT  # bytes: two texts, each character escaped as JSON may have it
_TEXTS = ("text", "pair")
_LINK, _OPTIONAL = "_link", "_optional_parameters"
_BY_HAND = "_published_by_hand"  # until every page declares its controls


def open_link() -> None:
    """Take the parameters of a link in: on a visitor's first run, and on back and forward."""
    start_notices()
    st.session_state[_BY_HAND] = False
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


def restore_text(key: str, default: str) -> None:
    """Set a text from the link, cut to what the pages take; else keep it, else the default."""
    value = st.session_state[_LINK].pop(key, None)
    if value is not None:
        if len(value) > MAX_TEXT:
            notice(
                f"The text in this link has {len(value):,} characters;"
                f" the first {MAX_TEXT:,} are used."
            )
        st.session_state[key] = value[:MAX_TEXT]
    st.session_state.setdefault(key, default)


def restore_choice(key: str, options: Sequence[str], default: str, subject: str) -> None:
    """Set a choice from the link if it is one of `options`; else say so and use the default.

    Parameters
    ----------
    subject : what has these options, for the message, e.g. "This model's layers".
    """
    value = st.session_state[_LINK].pop(key, None)
    if value is not None and value not in options:
        notice(
            f"This link asks for {key} {quote(value)}. {subject}: {_spoken(options)}."
            f" {quote(default)} is shown instead."
        )
        value = default
    current = st.session_state.get(key)
    if value is not None:
        st.session_state[key] = value
    elif current not in options:
        st.session_state[key] = default
        if current and current.isdigit():  # picked by a person, for another model
            notice(f"{subject}: {key} {current} became {quote(default)}.")


def restore_flag(key: str, default: bool = False) -> None:
    """Set a switch from the link ("1" or "0"); else keep it, else the default."""
    st.session_state[_OPTIONAL].add(key)
    value = st.session_state[_LINK].pop(key, None)
    if value == "":
        st.session_state[key] = default
    elif value is not None and value not in {"0", "1"}:
        notice(f"This link asks for {key} {quote(value)}; a switch is 0 or 1.")
    elif value is not None:
        st.session_state[key] = value == "1"
    st.session_state.setdefault(key, default)


def restore_numbers(key: str, allowed: Sequence[int], place: str = "in this text") -> None:
    """Set a list of numbers from the link ("3,5"), without those that are not `allowed`.

    `place` is where all that are allowed can be found, for the message.
    """
    st.session_state[_OPTIONAL].add(key)
    value = st.session_state[_LINK].pop(key, None)
    if value is not None:
        wanted = [part.strip() for part in value.split(",") if part.strip()]
        possible = {str(number): number for number in allowed}
        if not set(wanted) <= set(possible):
            notice(f"This link asks for {key} {quote(value)}; some of it is not {place}.")
        st.session_state[key] = [possible[part] for part in wanted if part in possible]
    kept = st.session_state.get(key, [])
    st.session_state[key] = [number for number in kept if number in allowed]


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


def restore_number(
    key: str, low: float, high: float, default: float, *, optional: bool = False
) -> None:
    """Set a number from the link if it lies in the range; else say so and use the default.

    `optional` says that addresses may leave the default out: back and forward then restore it.
    """
    if optional:
        st.session_state[_OPTIONAL].add(key)
    value = st.session_state[_LINK].pop(key, None)
    if value == "" and optional:
        st.session_state[key] = default
    elif value:
        number = _number(value)
        if number is None or not low <= number <= high:
            notice(
                f"This link asks for {key} {quote(value)}, which is a number from {low:g} to"
                f" {high:g}; {default:g} is used."
            )
            number = default
        st.session_state[key] = type(default)(number)
    st.session_state.setdefault(key, default)


def links_are_on() -> bool:
    """Whether the address holds the state: not with ``HEADSCOPE_LINKS`` 0, off, no or false."""
    return (setting("LINKS") or "").strip().lower() not in {"0", "off", "no", "false"}


def publish(*keys: str) -> None:
    """Write the state into the address: model and texts, and the page's own keys.

    Texts too long for an address are packed; where even that is too long they are left out, and
    so is the page's own longest value, and that is said.
    """
    st.session_state[_BY_HAND] = True
    shared = ("model", "text", "pair") if st.session_state.get("two") else ("model", "text")
    _write({key: st.session_state.get(key) for key in (*shared, *keys)})


def write(state: Mapping[str, object]) -> None:
    """Write the state into the address, unless the page has done so itself."""
    if not st.session_state[_BY_HAND]:
        _write(state)


def _write(values: Mapping[str, object]) -> None:
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


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _spoken(options: Sequence[str]) -> str:
    quoted = [quote(option) for option in options]
    few = 8
    if len(quoted) <= few:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:3])} … {quoted[-1]}"
