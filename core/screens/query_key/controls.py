"""What is chosen on the query-key page, and what is computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.query_key.clouds import default_chosen
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange
from core.ui import address, controls
from core.ui.current import found_head

if TYPE_CHECKING:
    from core.model import Trace

ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
_CHOSEN_FOR = "_chosen_for"
_POSITIONS = ("from", "to", "point", "dot")  # parameters whose positions are those of one text


def search_range(*, drawn: bool = False) -> SearchRange:
    """The range of the notebook's search, which its own part has fields for."""
    labels = ("a from − to +", "c from − to +", "Steps of each") if drawn else ("", "", "")
    a, c, steps = NOTEBOOK_RANGE
    return SearchRange(
        controls.number("a_range", 0.01, 100.0, a, labels[0], width=122, optional=True, step=0.5),
        controls.number("c_range", 0.1, 100.0, c, labels[1], width=122, optional=True, step=0.5),
        controls.number("steps", 2, 60, steps, labels[2], width=116, optional=True),
    )


def chosen_tokens(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the chosen sources and targets.

    Positions mean nothing in another text: there the choice starts afresh.
    """
    state, sides = st.session_state, (trace.tokens, trace.key_tokens)
    text = (trace.model, trace.kind, *(token.text for side in sides for token in side))
    before = state.get(_CHOSEN_FOR)
    if before not in {None, text}:
        for key in _POSITIONS:
            state.pop(key, None)
    use_default = before != text and not (address.asks_for("from") or address.asks_for("to"))
    state[_CHOSEN_FOR] = text
    chosen = []
    for key, side, default in zip(("from", "to"), sides, _first_chosen(trace), strict=True):
        picked = controls.tokens(key, [token.position + 1 for token in side])
        if use_default:
            state[key] = picked = [position + 1 for position in default]
        chosen.append(tuple(position - 1 for position in picked))
    return chosen[0], chosen[1]


def _first_chosen(trace: Trace) -> tuple[list[int], list[int]]:
    """The pair that Home names, which the head on screen joins; else the pair of two words."""
    found = found_head(trace)
    if found is not None and found.joins_words:
        return [found.query], [found.key]
    return default_chosen(trace)
