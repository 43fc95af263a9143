"""The neuron view's state: in the link, in the session, and in the picture that people click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.model_map import PAIR_FILTERS, shown_positions
from core.components.neuron_view import NeuronState
from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model import Trace

STRONGEST, ALL = "strongest", "all"
_SORTS = ["index", "contribution"]
_TURN = "_neuron_view_turn"  # how many choices the view has reported


def restore_pairs(trace: Trace) -> None:
    """Of which sentences pairs are looked at, which the picture's own buttons set."""
    two = any(token.segment == 1 for token in trace.tokens)
    controls.choice(
        "filter",
        PAIR_FILTERS if two else PAIR_FILTERS[:1],
        subject="The pairs are" if two else "With one sentence the pairs are",
        optional=not two,
    )


def pick_tokens(trace: Trace, labels: Sequence[str]) -> NeuronState:
    """Pickers for the query and for the key of the pair that is looked at; the whole state."""
    queries, keys = _shown(trace)
    for key, options in (("query", queries), ("key_token", keys)):
        if st.session_state.get(key) not in options:  # what a longer text had is no news
            st.session_state.pop(key, None)
    some = f"This text has {len(trace.tokens)} tokens"
    if st.session_state["filter"] != "all":
        some = "Of these pairs they are"

    def written(option: str) -> str:
        named = {STRONGEST: "its strongest", ALL: "all at once"}
        return named[option] if option in named else labels[int(option) - 1]

    query = controls.choice(
        "query",
        queries,
        "Query token",
        subject=some,
        default=_telling_token(trace, queries),
        names=written,
        menu=True,
        width=190,
        help="Or click a token on the left of the picture; pointing at one shows it.",
    )
    key_token = controls.choice(
        "key_token",
        keys,
        "Key of the pair",
        subject=some,
        names=written,
        menu=True,
        width=190,
        help="The pair whose score is taken apart into dimensions: the key that the query"
        " attends to most, or one of your choice. Or click its row in the picture.",
    )
    return NeuronState(
        query=None if query == ALL else int(query) - 1,
        key=None if key_token == STRONGEST else int(key_token) - 1,
        by_contribution=controls.choice("sort", _SORTS, subject="Dimensions are sorted by")
        == "contribution",
        folded=controls.flag("fold"),
        pairs=st.session_state["filter"],
        turn=st.session_state.get(_TURN, 0),
    )


def take_state(state: NeuronState) -> None:
    """Make what was chosen in the picture the state of the page."""
    st.session_state.update(
        {
            "query": ALL if state.query is None else str(state.query + 1),
            "key_token": STRONGEST if state.key is None else str(state.key + 1),
            "sort": _SORTS[state.by_contribution],
            "fold": state.folded,
            "filter": state.pairs,
            _TURN: state.turn,
        }
    )


def _shown(trace: Trace) -> tuple[list[str], list[str]]:
    """What the two pickers offer: tokens of the sentences that the pairs leave, from 1."""
    queries, keys = shown_positions(trace.tokens, st.session_state["filter"], hide_special=False)
    return (
        [ALL, *(str(position + 1) for position in queries)],
        [STRONGEST, *(str(position + 1) for position in keys)],
    )


def _telling_token(trace: Trace, queries: Sequence[str]) -> str:
    """The last of these with a letter in it, as it sees the most; else the last one."""
    tokens = [token for token in trace.tokens if str(token.position + 1) in queries]
    wordlike = [t for t in tokens if not t.special and any(map(str.isalpha, t.display))]
    return str((wordlike or tokens)[-1].position + 1)
