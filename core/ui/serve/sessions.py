"""Widget states that a browser may send; how many visits a server may have, and how it ends.

``server.maxWidgetStateSize`` (in ``.streamlit/config.toml``) limits the whole message. Streamlit
parses what components and charts say as JSON, which makes 25 times its size of it, and keeps that
for two minutes after a visit, and three file descriptors as long.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from streamlit import runtime
from streamlit.logger import get_logger
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import Runtime, RuntimeState
from streamlit.runtime.session_manager import SessionClient
from streamlit.runtime.state.common import unpack_widget_state_value

MOST_BYTES = 256_000  # of a state, but of pasted lines; a page sends far less
LONG_TEXT = "pasted_lines"  # key of the one text box whose state may be longer
_UPLOAD = "file_uploader_state_value"  # what Streamlit calls the state of a file uploader
DESCRIPTORS = 8192  # enough for 2,700 visits in two minutes; the system may allow fewer
_LOGGER = get_logger(__name__)


def guard() -> None:
    """Refuse states that no page sends, and end well. Safe to repeat."""
    if runtime.exists() and type(server := runtime.get_instance()) is Runtime:  # no test's
        _guard(server)


@functools.cache
def _guard(server: Runtime) -> None:
    allow_descriptors()
    atexit.register(_end_at_once, server)
    _refuse_states(server)


def allow_descriptors() -> None:
    """Let this process have `DESCRIPTORS` files open, or as many as the system allows it.

    Not on Windows, which has no such limit.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < allowed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _end_at_once(server: Runtime) -> None:
    """End the process of a server that has stopped, with status 0, though threads still work.

    As Python ends it takes those away; one that comes back from torch then aborts.
    """
    works = any(thread.daemon for thread in threading.enumerate())  # such as the first load
    if works and server.state is RuntimeState.STOPPED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def possible(states: Iterable[WidgetState], widgets: Mapping[str, Any]) -> list[WidgetState]:
    """The states that these `widgets`, by id, can read: together no longer than two may be.

    The server reads them between two messages of all visitors. A session without widgets yet, as
    when a browser comes back to a server that was started anew, keeps them unread.
    """
    known = [state for state in states if not widgets or state.id in widgets]
    sizes = accumulate(0 if widgets and _is_long(state) else state.ByteSize() for state in known)
    return [
        state
        for state, size in zip(known, sizes, strict=True)
        if size <= 2 * MOST_BYTES and (not widgets or is_possible(state, widgets[state.id]))
    ]


def _is_long(state: WidgetState) -> bool:
    """Whether it is the text that may be longer."""
    is_text = state.WhichOneof("value") == "string_value"
    return is_text and state.id.endswith(f"-{LONG_TEXT}")


def is_possible(state: WidgetState, widget: Any) -> bool:  # noqa: ANN401 - of Streamlit
    """Whether the state is short enough, of the widget's kind, and readable.

    Another (of another kind, or nested thousands deep) would end the page.
    """
    kind = state.WhichOneof("value")
    kinds = {widget.value_type, None}
    if widget.value_type == "double_value":  # a browser's field of whole numbers sends these
        kinds.add("int_value")
    if kind not in kinds:
        return False
    if state.ByteSize() > MOST_BYTES:
        return _is_long(state)
    if kind == _UPLOAD:  # looked up in the run alone
        return True
    try:
        widget.deserializer(unpack_widget_state_value(state))
    except Exception:  # noqa: BLE001 - whatever it is, it would be raised again in the run
        return False
    return True


def _refuse_states(server: Runtime) -> None:
    """Drop impossible states of every message; their widgets stay as they were."""
    handle, sessions = server.handle_backmsg, server._session_mgr  # noqa: SLF001

    def handle_possible(
        session_id: str, msg: BackMsg, *, client: SessionClient | None = None
    ) -> None:
        info = sessions.get_active_session_info(session_id)
        if info is not None and msg.WhichOneof("type") == "rerun_script":
            known = info.session.session_state._new_widget_state.widget_metadata  # noqa: SLF001
            states = msg.rerun_script.widget_states.widgets
            readable = possible(states, known)
            if len(readable) < len(states):
                _LOGGER.warning("%d impossible states were refused", len(states) - len(readable))
                del states[:]
                states.extend(readable)
        handle(session_id, msg, client=client)

    server.handle_backmsg = handle_possible  # type: ignore[method-assign]
