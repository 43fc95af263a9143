"""What was picked while the browser had not yet had the answer to it.

Each message of the browser carries the values of all widgets, and its address. One that was sent
before the answer to a pick arrived, as when somebody is quick on a slow line, brings the values
from before that pick and would undo it. The address tells: it is written with every answer, so that
a browser which shows an older one has not had the answer. A widget was not touched that says what
its address says, or what was picked since: its value may arrive before the address that tells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.ui.address import shown, to_text

_WAITING = "_picks_without_answer"
_MAX_VALUES = 50  # of one control, that may be on their way at once


@dataclass(frozen=True)
class _Waiting:
    """The values that one control has had since the browser's last answer, as links write them."""

    value: Any  # the last one
    omitted: str | None  # what an address without the control means
    texts: tuple[str | None, ...]  # the first is the one from before the first pick


def note(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Remember what was picked, by control; the address omits some that have their defaults."""
    if not values:
        return
    address, waiting = shown(), _waiting()
    for key, value in values.items():
        omitted = to_text(defaults.get(key))
        before = waiting[key].texts if key in waiting else (address.get(key, omitted),)
        waiting[key] = _Waiting(value, omitted, (*before, to_text(value))[-_MAX_VALUES:])


def restore() -> None:
    """Set again what a message without the answers has undone; forget what has been answered."""
    address, waiting = shown(), _waiting()
    for key, pick in list(waiting.items()):
        there, widget = address.get(key, pick.omitted), to_text(st.session_state.get(key))
        since = pick.texts[pick.texts.index(there) :] if there in pick.texts else ()
        if len(since) > 1 and widget in since:
            waiting[key] = replace(pick, texts=since)  # addresses come in order: no older one will
            st.session_state[key] = pick.value
        else:
            del waiting[key]


def answered(written: Mapping[str, str]) -> None:
    """Wait only for what the address that is `written` now will show, and for nothing else."""
    waiting = _waiting()
    for key, pick in list(waiting.items()):
        if written.get(key, pick.omitted) != to_text(pick.value):
            del waiting[key]


def forget() -> None:
    """Nothing waits any more: the address was changed by the visitor."""
    _waiting().clear()


def _waiting() -> dict[str, _Waiting]:
    waiting: dict[str, _Waiting] = st.session_state.setdefault(_WAITING, {})
    return waiting
