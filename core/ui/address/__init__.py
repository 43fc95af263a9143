"""Keep the whole state in the address bar, so that the address opens the same picture.

Streamlit's own ``bind="query-params"`` (tried in 1.67 on switches and choices) omits defaults,
silently drops invalid values (and the ``0`` of our switches), and binds no control that is not
drawn; a link handed out in class must neither depend on a default nor fail silently.
Texts too long for an address are compressed into `packed`. With ``HEADSCOPE_LINKS=0`` nothing is
written, so that no proxy logs what visitors type; existing links still open.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.ui.serve.deployment import setting
from core.ui.words.messages import notice, quote, start_notices

MAX_TEXT = 10_000  # characters of a text; about four times what the longest page can show
# Bytes of a whole address. Proxies limit a request line, which also holds the method and the
# protocol, to 8,192 (nginx: large_client_header_buffers; Apache: LimitRequestLine).
MAX_ADDRESS = 7_500
_MAX_SITE = 200  # bytes reserved for the site's own address where it is unknown
_MAX_UNPACKED = 2 * 12 * MAX_TEXT  # bytes: two texts with every character as a JSON escape
_TEXTS = ("text", "pair", "text_b")
_LINK, _OPTIONAL, _STATE = "_link", "_optional_parameters", "_address"
_MOVED = "_moved_to"  # by back or forward, until a run that reads this address has ended
_IS_READ = "_link_is_read_now"
WATCHED = "_window_is_watched"  # then the browser keeps one history entry per page


def open_link() -> bool:
    """Read the parameters of a link: on a visitor's first run, and on back and forward.

    Also on a run that replaces one of these before it has ended. Returns whether this run is one
    of them.
    """
    start_notices()
    state, context, address = st.session_state, get_script_run_ctx(), shown()
    state.pop(_STATE, None)  # the previous run's; this one writes its own at the end
    is_back = context is not None and getattr(context, "is_history_navigation", False)
    moved = is_back or (_MOVED in state and state[_MOVED][0] == address)
    state[_IS_READ] = moved or _LINK not in state
    if not state[_IS_READ]:
        return False
    link = _unpacked({key: value for key, value in st.query_params.to_dict().items() if value})
    if moved or "pair" in link:
        state["two"] = "pair" in link
    # An optional parameter that the address omits is off: back and forward must reset it.
    link = dict.fromkeys(state.setdefault(_OPTIONAL, set()), "") | link
    now = {key: to_text(state.get(key)) for key in link}
    if is_back:
        state[_MOVED] = address, now
    before = state[_MOVED][1] if moved else now
    # A value that is neither the earlier one nor the link's was picked since, and stays.
    state[_LINK] = {
        key: value for key, value in link.items() if now[key] in {before.get(key, now[key]), value}
    }
    return True


def take(key: str) -> str | None:
    """Take the link's value for this parameter, once; "" if the link omits an optional one."""
    value: str | None = st.session_state[_LINK].pop(key, None)
    return value


def is_read_now() -> bool:
    """Whether this run reads the parameters of a link."""
    return bool(st.session_state[_IS_READ])


def translate(link: Mapping[str, str], parts: Mapping[str, str]) -> None:
    """Translate a link to a page that has become a part of another: see ``core.ui.words.pages``."""
    target = st.session_state[_LINK]
    target.update({key: value for key, value in link.items() if not target.get(key)})
    if "part" in target:
        target["part"] = parts.get(target["part"], target["part"])


def request(link: Mapping[str, str]) -> None:
    """Ask for these parameters as a link would; "" stands for a control's default."""
    st.session_state[_LINK].update(link)


def take_gone(gone: Mapping[str, Sequence[str]]) -> list[str]:
    """Remove from the link, and return, what is `gone`: see ``core.ui.words.pages``."""
    link = st.session_state[_LINK]
    obsolete = {
        key: words
        for words, patterns in gone.items()
        for key, value in link.items()
        if value and any(re.fullmatch(f"{each}(=.*)?", f"{key}={value}") for each in patterns)
    }
    for key in obsolete:
        del link[key]
    return list(dict.fromkeys(obsolete.values()))


def may_leave_out(key: str) -> None:
    """Let the address omit this parameter; back and forward then reset it to its default."""
    st.session_state[_OPTIONAL].add(key)


def asks_for(key: str) -> str:
    """The link's value for this parameter if it has not been taken yet, else ""."""
    value: str = st.session_state[_LINK].get(key, "")
    return value


def links_are_on() -> bool:
    """Whether the address holds the state; ``HEADSCOPE_LINKS`` 0, off, no or false disables it."""
    return (setting("LINKS") or "").strip().lower() not in {"0", "off", "no", "false"}


def write(values: Mapping[str, object]) -> None:
    """Write the state to the address.

    If it is too long, its texts are packed. If it still is, they are left out, then other values,
    longest first; a caption says so.
    """
    state = {key: text for key, value in values.items() if (text := to_text(value)) is not None}
    st.session_state[_STATE] = _shortened(state) if links_are_on() else {}
    st.session_state.pop(_MOVED, None)
    write_waiting()


def shown() -> dict[str, str]:
    """The parameters in the browser's address when it requested this run."""
    context = get_script_run_ctx()
    if context is None:
        return {}
    return dict(parse_qsl(context.query_string.removeprefix("?"), keep_blank_values=True))


def write_waiting() -> None:
    """Write the state of a run that has ended, unless the window is not watched yet."""
    state = current()
    is_known = _STATE in st.session_state and st.session_state.get(WATCHED, False)
    if is_known and st.query_params.to_dict() != state:
        st.query_params.from_dict(state)


def current() -> dict[str, str]:
    """Parameters and values that the address has, or will soon have, once a run has ended."""
    state: dict[str, str] = st.session_state.get(_STATE, {})
    return state


def _shortened(state: dict[str, str]) -> dict[str, str]:
    if _fits(state):
        return state
    others = {key: value for key, value in state.items() if key not in _TEXTS}
    packed = others | {"packed": pack_texts({key: state[key] for key in _TEXTS if key in state})}
    if _fits(packed):
        return packed
    st.sidebar.caption("The text is too long for a link, which leaves it out.")
    while not _fits(others):
        longest = max(others, key=lambda key: len(urlencode({key: others[key]})))
        del others[longest]
        st.sidebar.caption(f"The link leaves out {quote(longest)} too: it is too long.")
    return others


def _fits(state: dict[str, str]) -> bool:
    site = len(st.context.url or "") or _MAX_SITE
    return site + len("?") + len(urlencode(state)) <= MAX_ADDRESS


def _unpacked(link: dict[str, str]) -> dict[str, str]:
    """The parameters with `packed` texts unpacked; a text written out takes precedence."""
    packed = link.pop("packed", None)
    if packed is None:
        return link
    texts = unpack_texts(packed, _MAX_UNPACKED)
    if texts is None:
        notice("The text in this link cannot be read: the link is damaged or was cut off.")
        return link
    return {key: texts[key] for key in _TEXTS if texts.get(key)} | link


def to_text(value: object) -> str | None:
    """A control's value as links write it; None if they leave it out."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ",".join(map(str, value)) or None
    return None if value is None else str(value)


_RAW_DEFLATE = -15  # zlib's window for a stream without header and checksum (RFC 1951)


def pack_texts(texts: dict[str, str]) -> str:
    """Texts by link parameter -> letters, digits, "-" and "_".

    >>> unpack_texts(pack_texts({"text": "I saw it", "pair": "本"}), 1000)
    {'text': 'I saw it', 'pair': '本'}
    """
    raw = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    deflated = zlib.compress(raw, 9, wbits=_RAW_DEFLATE)
    return base64.urlsafe_b64encode(deflated).rstrip(b"=").decode("ascii")


def unpack_texts(packed: str, max_bytes: int) -> dict[str, str] | None:
    """The texts given to :func:`pack_texts`, or None if `packed` is anything else.

    `packed` comes from a link and is not trusted: more than `max_bytes` are never inflated.
    """
    try:
        deflated = base64.urlsafe_b64decode(packed.encode("ascii") + b"=" * (-len(packed) % 4))
        inflate = zlib.decompressobj(_RAW_DEFLATE)
        raw = inflate.decompress(deflated, max_bytes + 1)
        if len(raw) > max_bytes or not inflate.eof:
            return None
        texts = json.loads(raw)
    except (ValueError, zlib.error, RecursionError):
        return None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        return None
    # A JSON escape can encode a lone surrogate, which is not a character.
    return {key: text.encode("utf-8", "replace").decode() for key, text in texts.items()}
