"""Where two words meet: the heads that attend from one to the other, with example sentences."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas import SearchError
from core.analysis.atlas.meeting import MAX_SENTENCES, Meeting, common_sentences, meet_words
from core.analysis.atlas.search import MAX_QUERY, phrase_places
from core.model import ModelError, trace_by_length
from core.screens.atlas.rerun import model_of, reads_alike
from core.screens.atlas.screen import open_head
from core.screens.atlas.wording import number
from core.ui import cache, controls
from core.ui.head_maps import show_head_map
from core.ui.messages import escape, quote, show_model_error

if TYPE_CHECKING:
    from core.analysis.atlas.meeting import Places
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

DEFAULT_WORDS = ("was", "it")
_KEPT = "_atlas_meeting"
_LISTED, _EXAMPLES = 8, 5


def show_meeting(screen: Screen, colours: Palette) -> None:
    """The two words, the map of heads, the strongest of them, and sentences."""
    first, second = _pick_words()
    if not first or not second:
        st.info("**Type two words** (or phrases) of the corpus.")
        return
    if first.casefold() == second.casefold():
        st.info("Type two different words.")
        return
    meeting = _measured(screen, first, second)
    if meeting is None:
        return
    mean = meeting.mean
    if not np.isfinite(mean).any():
        st.info(
            f"In a causal model no token attends to a later one, and {quote(first)} never stands"
            f" after {quote(second)}. Swap the words."
        )
        return
    st.markdown(
        f"From {quote(first)} to {quote(second)}, over **{len(meeting.sentences)}** sentences that"
        f" have both. If every key got the same it would be"
        f" {number(float(np.nanmean(meeting.mean_even)))}."
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_head_map(
            mean,
            "mean attention",
            colours,
            key="atlas_meeting_map",
            on_open=partial(open_head, part="words"),
            bounds=(0.0, max(0.2, float(np.nanmax(mean)))),
        )
        st.caption(
            "Mean over the sentences of the attention from the first word's tokens (mean) to the"
            " second's (sum). Click a square to read that head's sentences."
        )
    with right:
        st.dataframe(_strongest(meeting), key="atlas_meeting_table", hide_index=True)
    _show_examples(screen, meeting, first, second)


def _pick_words() -> tuple[str, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = (
            controls.text(key, default, label, max_chars=MAX_QUERY, width=200).strip()
            for key, default, label in zip(
                ("first", "second"), DEFAULT_WORDS, ("From", "to"), strict=True
            )
        )
        st.button("⇄", key="atlas_swap", help="Swap the words", on_click=_swap)
    return first, second


def _swap() -> None:
    state = st.session_state
    state["first"], state["second"] = state["second"], state["first"]


def _measured(screen: Screen, first: str, second: str) -> Meeting | None:
    """From the session or measured now; None, with a message, where it cannot be."""
    atlas = screen.atlas
    of = (ref(atlas), first, second)
    kept = st.session_state.get(_KEPT)
    if kept is not None and kept[0] == of:
        found: Meeting = kept[1]
        return found
    try:
        one, other = phrase_places(atlas, first), phrase_places(atlas, second)
    except SearchError as error:
        st.warning(escape(str(error)))
        return None
    for word, places in ((first, one), (second, other)):
        if not places:
            st.info(f"{quote(word)} is not in this corpus.")
            return None
    both = common_sentences(one, other)
    if not both:
        st.info(f"No sentence of this corpus has both {quote(first)} and {quote(second)}.")
        return None
    meeting = _run(screen, both, one, other)
    if meeting is not None:
        st.session_state[_KEPT] = of, meeting
    return meeting


def _run(screen: Screen, both: list[int], one: Places, other: Places) -> Meeting | None:
    atlas = screen.atlas
    model = model_of(atlas)
    if model is None:
        return None
    texts = [atlas.sentences[i] for i in both]
    try:
        with st.spinner(f"Running {len(both)} sentences through the model …"):
            traces = (
                (both[i], trace)
                for i, trace in trace_by_length(model, texts, max_tokens=cache.MAX_TOKENS)
                if reads_alike(atlas, both[i], trace)
            )
            start = next(traces, None)  # no more than a batch is in memory
            if start is not None:
                return meet_words(chain([start], traces), one, other)
    except ModelError as error:
        show_model_error(error)
        return None
    st.warning("The model splits these sentences into other tokens than this atlas has.")
    return None


def _strongest(meeting: Meeting) -> pd.DataFrame:
    mean, even = meeting.mean, meeting.mean_even
    heads = mean.shape[1]
    order = [
        i for i in np.argsort(-np.nan_to_num(mean, nan=-1), axis=None) if np.isfinite(mean.flat[i])
    ]
    return pd.DataFrame(
        {
            "head": [f"L{i // heads + 1} H{i % heads + 1}" for i in order[:_LISTED]],
            "attention": [round(float(mean.flat[i]), 3) for i in order[:_LISTED]],
            "× even": [round(float(mean.flat[i] / even.flat[i]), 1) for i in order[:_LISTED]],
        }
    )


def _show_examples(screen: Screen, meeting: Meeting, first: str, second: str) -> None:
    best = meeting.best_sentences(screen.layer, screen.head, _EXAMPLES)
    st.markdown(f"**{screen.name}** attends from {quote(first)} to {quote(second)} most here:")
    table = pd.DataFrame(
        {
            "attention": [round(weight, 3) for _, weight in best],
            "sentence": [screen.atlas.sentences[sentence] for sentence, _ in best],
        }
    )
    st.dataframe(table, key="atlas_examples", hide_index=True)
    if len(meeting.sentences) == MAX_SENTENCES:
        st.caption(f"More than {MAX_SENTENCES} sentences have both; so many were measured.")
