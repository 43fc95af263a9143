"""Where a token comes from: attention flow back through the layers, as a pruned graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.rollout import (
    FLOWS,
    Paths,
    as_many_paths,
    follow_paths,
    paths_table,
    uniform_mixing,
)
from core.components.paths import show_paths
from core.model import Trace
from core.model.weights.mixing import token_mixing
from core.screens.heads.effects import measured_trace, model_of
from core.ui import address, cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, found_head
from core.ui.downloads import contents, offer_csv
from core.ui.navigation import set_headline
from core.ui.place import pinned_pair
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose
from core.vocabulary import labels_of, percent

if TYPE_CHECKING:
    from core.model.trace import Array

FOLLOWED = "token"  # the token that is traced back, as a position from 1
_TEXT = "_text_of_token"
_NAMED = 3  # sources that the answer names
_MAX_KEPT = 16  # each of 12 layers and 128 tokens: 0.8 MB
_words = Prose(__file__, "words_effect.md")


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Taking each layer apart …")
def _mixing(key: TraceKey) -> Array | None:
    return token_mixing(model_of(key), measured_trace(cache.trace(*key), key))


def show_origin(whole: Trace) -> None:
    """Show the answer, the picture, and the button for the file."""
    if show_unread(whole, "A sentence whose tokens are followed"):
        return
    key = current_key(whole.model)
    trace = measured_trace(whole, key)
    target = _target(trace, whole)
    mixing = _mixing(key)
    if mixing is None:
        set_headline(_words("no_paths"))
        return
    paths = follow_paths(mixing, target)
    uniform = uniform_mixing(trace, mixing)
    control = as_many_paths(uniform, target, paths.count)
    set_headline(_headline(trace, paths, control))
    export = contents("effect", trace.model, f"paths-{target + 1}")
    picture = export.titled("Where a token comes from")
    pick = lambda token: controls.pick(**{FOLLOWED: [token + 1]})
    show_paths(trace, paths, picture, key="effect_paths", on_pick=pick)
    st.caption(_caption(trace, whole, target))
    table = paths_table(trace, paths)
    offer_csv(table.copy, export, index=False, float_format="%.6f")


def _target(trace: Trace, full: Trace) -> int:
    """The token picked in the link or the picture, until the text changes.

    Else the query pinned on other pages, or of the pair that Home names; else the last word.
    """
    state, count = st.session_state, len(trace.tokens)
    text = hash(full.tokens)
    if state.setdefault(_TEXT, text) != text and not address.asks_for(FOLLOWED):
        state[FOLLOWED] = []
    state[_TEXT] = text
    picked = controls.tokens(FOLLOWED, range(1, count + 1))[:1]
    link = found_head(full)
    query = [] if link is None else [link.query + 1]
    words = [each.position + 1 for each in trace.tokens if not each.special] or [1]
    options: Sequence[int] = (*picked, *pinned_pair(full)[:1], *query, words[-1])
    return next(each for each in options if each <= count) - 1


def _headline(trace: Trace, paths: Paths, control: Paths) -> str:
    labels = labels_of(trace.tokens)
    order = np.argsort(-paths.relevance[0], kind="stable")[:_NAMED]
    sources = [
        _words(
            "source",
            itself=place == paths.target,
            token=quote(labels[place]),
            share=percent(float(paths.relevance[0, place])),
        )
        for place in order
    ]
    return _words(
        "comes_from",
        token=quote(labels[paths.target]),
        sources=in_a_row(sources),
        lines=paths.count,
        accounted=percent(paths.accounted),
        control_lines=control.count,
        control=percent(control.accounted),
        strongest=FLOWS * trace.shape[0],
    )


def _caption(trace: Trace, full: Trace, target: int) -> str:
    return _words(
        "lines",
        token=quote(labels_of(trace.tokens)[target]),
        cut=trace is not full,
        most=len(trace.tokens),
        tokens=len(full.tokens),
    )
