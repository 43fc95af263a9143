"""The neuron view's state: in the link, in the session, and in the picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.images.patch_scores import patches_of
from core.analysis.model_map import PairFilter, shown_positions
from core.components.neuron_view import NeuronState
from core.model.trace import Token
from core.ui import controls
from core.ui.current import found_head
from core.vocabulary import labels_of

if TYPE_CHECKING:
    from core.model import Trace

STRONGEST, ALL = "strongest", "all"
_SORTS = ["index", "contribution"]


def pick_tokens(trace: Trace, pairs: PairFilter) -> NeuronState:
    """Draw menus for the query and the key that are taken apart; returns the whole state."""
    query_positions, key_positions = shown_positions(
        trace.tokens, pairs, hide_special=False, source=trace.source
    )
    queries = [ALL, *(str(position + 1) for position in query_positions)]
    keys = [STRONGEST, *(str(position + 1) for position in key_positions)]
    for name, options in (("query", queries), ("key_token", keys)):
        if st.session_state.get(name) not in options:  # dropped silently after a longer text
            st.session_state.pop(name, None)
    subject = f"{trace.input.this.capitalize()} has {len(trace.tokens)} tokens"
    if trace.source is not None:
        subject = f"The decoder has {len(trace.tokens)} tokens, this text {len(trace.source)}"
    if pairs != "all":
        subject = "The tokens of these pairs are"
    query = controls.choice(
        "query",
        queries,
        "Query token",
        subject=subject,
        default=_first_query(trace, query_positions),
        names=_titles(trace.tokens, ALL, "all at once").__getitem__,
        menu=True,
        width=190,
        help="Or press a token on the left of the picture; pointing at one shows it.",
    )
    key_token = controls.choice(
        "key_token",
        keys,
        "Key",
        subject=subject,
        names=_titles(trace.key_tokens, STRONGEST, "the strongest").__getitem__,
        menu=True,
        width=190,
        help="The pair whose score is taken apart into dimensions: the key that the query"
        " attends to most, of those shown, or one of your choice. Or press its row in the picture.",
    )
    sort = controls.choice("sort", _SORTS, subject="Dimensions are sorted by")
    return NeuronState(
        query=None if query == ALL else int(query) - 1,
        key=None if key_token == STRONGEST else int(key_token) - 1,
        by_contribution=sort == "contribution",
        pairs=pairs,
    )


def _titles(tokens: tuple[Token, ...], name: str, title: str) -> dict[str, str]:
    """Titles of a menu's options: the tokens at their positions, and one called `name`."""
    return {name: title} | {str(i): label for i, label in enumerate(labels_of(tokens), start=1)}


def take_state(state: NeuronState, new: Collection[str]) -> None:
    """Copy what is `new` in the picture's state to the page's state."""
    picks: dict[str, tuple[str, Any]] = {
        "query": ("query", ALL if state.query is None else str(state.query + 1)),
        "key": ("key_token", STRONGEST if state.key is None else str(state.key + 1)),
        "by_contribution": ("sort", _SORTS[state.by_contribution]),
        "pairs": ("filter", state.pairs),
    }
    controls.pick(**dict(picks[name] for name in new))


def _first_query(trace: Trace, positions: Sequence[int]) -> str:
    """The query of the pair that Home names, if it is among these tokens, else their last word,
    which sees the most. For an image, the patch in the middle.
    """
    link = found_head(trace)
    if link is not None and link.query in positions:
        return str(link.query + 1)
    if not trace.input.has_words:
        patches = patches_of(trace)
        row, column = patches.rows // 2, patches.columns // 2
        return str(patches.first + row * patches.columns + column + 1)
    tokens = [trace.tokens[position] for position in positions]
    words = [t for t in tokens if not t.special and any(map(str.isalpha, t.display))]
    return str((words or tokens)[-1].position + 1)
