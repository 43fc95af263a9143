"""Picks that the browser has not yet been told about.

Each message from the browser carries the values of all widgets, and its address. A message sent
before the answer to a pick arrived, as when somebody clicks fast on a slow line, has the values
from before that pick and would undo it. The address reveals this: every answer writes it, so a
browser that shows an older address has not had the answer. A widget is untouched if its value is
the address's, or was picked since: a value may arrive before the address that contains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.ui.address import shown, to_text

_WAITING = "_picks_without_answer"
_MAX_VALUES = 50  # of one control that can be in transit at once


@dataclass(frozen=True)
class _Waiting:
    """The values of one control since the browser's last answer, as links write them."""

    value: Any  # the latest
    omitted: str | None  # the value that an address without this control stands for
    texts: tuple[str | None, ...]  # the first one is from before the first pick


def note(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Remember picks by control; the address may omit a control that has its default."""
    if not values:
        return
    address, waiting = shown(), _waiting()
    for key, value in values.items():
        omitted = to_text(defaults.get(key))
        before = waiting[key].texts if key in waiting else (address.get(key, omitted),)
        waiting[key] = _Waiting(value, omitted, (*before, to_text(value))[-_MAX_VALUES:])


def restore() -> None:
    """Restore picks that an outdated message has undone; forget those that were answered."""
    address, waiting = shown(), _waiting()
    for key, pick in list(waiting.items()):
        reported, widget = address.get(key, pick.omitted), to_text(st.session_state.get(key))
        since = pick.texts[pick.texts.index(reported) :] if reported in pick.texts else ()
        if len(since) > 1 and widget in since:
            waiting[key] = replace(pick, texts=since)  # addresses arrive in order, none older
            st.session_state[key] = pick.value
        else:
            del waiting[key]


def answered(written: Mapping[str, str]) -> None:
    """Keep waiting only for picks that the newly `written` address contains."""
    waiting = _waiting()
    for key, pick in list(waiting.items()):
        if written.get(key, pick.omitted) != to_text(pick.value):
            del waiting[key]


def forget() -> None:
    """Drop everything that waits: the visitor has changed the address."""
    _waiting().clear()


def _waiting() -> dict[str, _Waiting]:
    waiting: dict[str, _Waiting] = st.session_state.setdefault(_WAITING, {})
    return waiting
