"""What the parts of the query-key page share beside its first row: chosen tokens, search ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.query_key.clouds import default_chosen
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange
from core.ui import address, controls

if TYPE_CHECKING:
    from core.model import Trace

_CHOSEN_FOR = "_chosen_for"
_TOKENS = ("from", "to", "point", "dot")  # what holds positions, which are those of one text


def search_range(*, drawn: bool = False) -> SearchRange:
    """What the notebook's search tries, which the part of the search has fields for."""
    usual = NOTEBOOK_RANGE
    names = ("a from − to +", "c from − to +", "Steps of each") if drawn else ("", "", "")
    return SearchRange(
        controls.number(
            "a_range", 0.01, 100.0, usual.a, names[0], width=150, optional=True, step=0.5
        ),
        controls.number(
            "c_range", 0.1, 100.0, usual.c, names[1], width=150, optional=True, step=0.5
        ),
        controls.number("steps", 2, 60, usual.steps, names[2], width=150, optional=True),
    )


def chosen_tokens(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the chosen sources and targets, from the link or as they were.

    Positions mean nothing in another text: there, what is chosen begins anew.
    """
    positions = [token.position + 1 for token in trace.tokens]
    same_text = (trace.model, *(token.text for token in trace.tokens))
    fresh = st.session_state.get(_CHOSEN_FOR) not in {None, same_text}
    if fresh:
        for key in _TOKENS:
            st.session_state.pop(key, None)
    first = _CHOSEN_FOR not in st.session_state
    st.session_state[_CHOSEN_FOR] = same_text
    asked = address.asks_for("from") or address.asks_for("to")
    for key, chosen in zip(("from", "to"), default_chosen(trace), strict=True):
        controls.tokens(key, positions)
        if (fresh or first) and not asked:
            st.session_state[key] = [position + 1 for position in chosen]
    sources, targets = (tuple(at - 1 for at in st.session_state[key]) for key in ("from", "to"))
    return sources, targets
