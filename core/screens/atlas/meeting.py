"""Where two words meet: the heads that attend from one to the other, with example sentences."""

from __future__ import annotations

import operator
from functools import partial
from itertools import chain
from typing import Any
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.atlas import Atlas
from core.atlas.meeting import MAX_SENTENCES, Meeting, common_sentences, meet_words
from core.atlas.search import SearchError
from core.atlas.search.expression import MAX_QUERY
from core.atlas.sources.memory import phrase_positions
from core.figures.palette import Palette
from core.model import LoadedModel, ModelError, trace_corpus
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.screen import Screen
from core.screens.atlas.sentence import model_of, traces_of
from core.screens.atlas.wording import number
from core.ui import cache, controls, python
from core.ui.head_maps import show_head_map
from core.ui.python.source import note_model
from core.ui.selectors import choose_head
from core.ui.words.messages import escape, quote, show_model_error
from core.vocabulary import head_name

DEFAULT_WORDS = ("was", "it")
MIN_ATTENTION = 0.5  # mean, of a head that is named: as of most head patterns
_CACHED = "_atlas_meeting"
_LISTED, _EXAMPLES = 8, 5


def show_meeting(screen: Screen, words: tuple[str, str], colours: Palette) -> None:
    """Of the two words the map of heads, the strongest of them, and sentences."""
    first, second = words
    if not first or not second:
        st.info("**Type two words** (or phrases) of the corpus.")
        return
    if first.casefold() == second.casefold():
        st.info("Type two different words.")
        return
    meeting = _meeting(screen, first, second)
    if meeting is None:
        return
    mean = meeting.mean
    if not np.isfinite(mean).any():
        st.info(
            f"In a causal model no token attends to a later one, and {quote(first)} never comes"
            f" after {quote(second)}. Swap the words."
        )
        return
    baseline = float(np.nanmean(meeting.uniform_baseline))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_head_map(
            screen.atlas,
            mean,
            "mean attention",
            colours,
            key="atlas_meeting_map",
            on_open=partial(choose_head, part="words"),
            bounds=(0.0, max(0.2, float(np.nanmax(mean)))),
        )
        st.caption(
            f"From {quote(first)} to {quote(second)}: mean over the **{len(meeting.sentences)}**"
            " sentences that have both, of the attention from the first word's tokens (mean) to"
            f" the second's (sum). Uniform baseline: {number(baseline)}. Click a square for that"
            " head's sentences."
        )
    with right:
        st.dataframe(_strongest(screen.atlas, meeting), key="atlas_meeting_table", hide_index=True)
    _show_examples(screen, meeting, first, second)


def pick_words() -> tuple[str, str]:
    """The words between which attention is looked for, with a button that swaps them."""
    first, second = (
        controls.text(key, default, label, max_chars=MAX_QUERY, column=95).strip()
        for key, default, label in zip(
            ("first", "second"), DEFAULT_WORDS, ("From", "To"), strict=True
        )
    )
    st.button(
        "Swap",
        key="atlas_swap",
        help="Swap the words",
        on_click=controls.pick,
        kwargs={"first": second, "second": first},
    )
    return first, second


def strongest_head(entry: AtlasEntry) -> tuple[Meeting, tuple[int, int]] | None:
    """Of the words that the part begins with, their meeting and the head that attends most so.

    None where no head gives more than `MIN_ATTENTION`, where the words do not meet, and for an
    atlas from a file, whose model may be slow to load or not here.
    """
    atlas = entry.atlas
    if atlas is None or atlas.vectors is None or atlas.images is not None:
        return None
    if not entry.meetings:
        entry.meetings.append(_measured_quietly(atlas))
    meeting = entry.meetings[0]  # there are more where several visitors came at once
    if meeting is None:
        return None
    mean = np.nan_to_num(meeting.mean)
    layer, head = (int(place) for place in np.unravel_index(mean.argmax(), mean.shape))
    return (meeting, (layer, head)) if mean[layer, head] > MIN_ATTENTION else None


def _measured_quietly(atlas: Atlas) -> Meeting | None:
    """The meeting of `DEFAULT_WORDS`; None, without a message, where there is none."""
    try:
        places = [phrase_positions(atlas, word) for word in DEFAULT_WORDS]
        sentences = common_sentences(*places)
        if not sentences:
            return None
        model = cache.model(atlas.model)
        return _meet(model, atlas, sentences, places)
    except (SearchError, ModelError):
        return None


def _meeting(screen: Screen, first: str, second: str) -> Meeting | None:
    """From the session or measured now; None, with a message, where that is not possible."""
    if (first, second) == DEFAULT_WORDS and any(screen.entry.meetings):
        return screen.entry.meetings[0]
    question = (ref(screen.atlas), first, second)
    cached = st.session_state.get(_CACHED)
    if cached is None or cached[0] != question:
        meeting = _measured(screen.atlas, first, second)
        if meeting is None:
            return None
        cached = st.session_state[_CACHED] = question, meeting
    result: Meeting = cached[1]
    _note(screen.atlas, first, second, result)
    return result


def _note(atlas: Atlas, first: str, second: str, meeting: Meeting) -> None:
    note_model(atlas.model)
    places = python.Variable("first"), python.Variable("second")
    for place, word in zip(places, (first, second), strict=True):
        python.made(place.name, None, python.call(phrase_positions, atlas, word))
    both = python.Variable("sentences_of_both")
    python.made(both.name, None, python.call(common_sentences, *places))
    texts = python.each_of(
        "number",
        both,
        lambda number: python.call(
            operator.getitem, python.call(getattr, atlas, "sentences"), number
        ),
    )
    traces = python.call(trace_corpus, python.MODEL, texts, max_tokens=cache.MAX_TOKENS)
    run = python.call(meet_words, python.call(zip, both, traces), *places)
    python.made("meeting", meeting, run)
    python.made("mean", None, python.call(getattr, meeting, "mean"))


def _measured(atlas: Atlas, first: str, second: str) -> Meeting | None:
    try:
        places = [phrase_positions(atlas, word) for word in (first, second)]
    except SearchError as error:
        st.warning(escape(str(error)))
        return None
    for word, positions in zip((first, second), places, strict=True):
        if not positions:
            st.info(f"{quote(word)} is not in this corpus.")
            return None
    sentences = common_sentences(*places)
    if not sentences:
        st.info(f"No sentence of this corpus has both {quote(first)} and {quote(second)}.")
        return None
    model = model_of(atlas)
    return None if model is None else _run(model, atlas, sentences, places)


def _run(
    model: LoadedModel, atlas: Atlas, sentences: list[int], places: list[dict[int, Any]]
) -> Meeting | None:
    try:
        with st.spinner(f"Running {len(sentences)} sentences through the model …"):
            meeting = _meet(model, atlas, sentences, places)
        if meeting is not None:
            return meeting
    except ModelError as error:
        show_model_error(error)
        return None
    st.warning("The model now splits these sentences into different tokens than this atlas.")
    return None


def _meet(
    model: LoadedModel, atlas: Atlas, sentences: list[int], places: list[dict[int, Any]]
) -> Meeting | None:
    """None where the model splits all of the sentences in another way than the atlas has them."""
    traces = traces_of(atlas, model, sentences)
    start = next(traces, None)  # only one batch at a time is in memory
    return None if start is None else meet_words(chain([start], traces), *places)


def _strongest(atlas: Atlas, meeting: Meeting) -> pd.DataFrame:
    mean, ratios = meeting.mean, meeting.mean / meeting.uniform_baseline
    order = np.argsort(-np.nan_to_num(mean, nan=-1), axis=None)
    order = order[np.isfinite(mean.flat[order])][:_LISTED]
    return pd.DataFrame(
        {
            "head": [head_name(atlas, *divmod(int(i), mean.shape[1])) for i in order],
            "attention": [round(float(weight), 3) for weight in mean.flat[order]],
            "× uniform": [round(float(ratio), 1) for ratio in ratios.flat[order]],
        }
    )


def _show_examples(screen: Screen, meeting: Meeting, first: str, second: str) -> None:
    best = meeting.best_sentences(screen.layer, screen.head, _EXAMPLES)
    st.markdown(f"**{screen.name}** attends from {quote(first)} to {quote(second)} most here:")
    table = {
        "attention": [round(weight, 3) for _, weight in best],
        "sentence": [screen.atlas.sentences[sentence] for sentence, _ in best],
    }
    st.dataframe(pd.DataFrame(table), key="atlas_examples", hide_index=True)
    if len(meeting.sentences) == MAX_SENTENCES:
        st.caption(f"More than {MAX_SENTENCES} sentences have both; this many were measured.")
