"""Where two words meet: the heads that attend from one to the other, with example sentences."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
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
from core.screens.atlas.sentence import OTHER_TOKENS, model_of, traces_of
from core.screens.atlas.wording import number
from core.ui import cache, controls, python
from core.ui.cache.session import remembered
from core.ui.head_maps import show_head_map
from core.ui.place import choose_head
from core.ui.python.source import note_model
from core.ui.words.messages import escape, quote, show_model_error
from core.ui.words.prose import Prose
from core.vocabulary import head_name

DEFAULT_WORDS = ("was", "it")
MIN_ATTENTION = 0.5  # mean, of a head that is named: as of most head patterns
_CACHED = "_atlas_meeting"
_LISTED, _EXAMPLES = 8, 5
_words = Prose(__file__)
Positions = Mapping[int, Any]  # of a word in each sentence that has it


class _NotMeasuredError(Exception):
    """Why the attention between two words was not measured (Markdown)."""

    def __init__(self, why: str, show: Callable[[str], object] = st.info) -> None:
        super().__init__(why)
        self.show = partial(show, why)


def show_meeting(screen: Screen, words: tuple[str, str], colours: Palette) -> None:
    """Of the two words the map of heads, the strongest of them, and sentences."""
    first, second = words
    if not first or not second:
        st.info("**Type two words** (or phrases) of the corpus.")
        return
    if first.casefold() == second.casefold():
        st.info("Type two different words.")
        return
    try:
        meeting = _meeting(screen, first, second)
    except _NotMeasuredError as error:
        error.show()
        return
    except ModelError as error:
        show_model_error(error)
        return
    mean = meeting.mean
    if not np.isfinite(mean).any():
        st.info(
            f"In a causal model no token attends to a later one, and {quote(first)} never comes"
            f" after {quote(second)}. Swap the words."
        )
        return
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
        caption = _words(
            "between_two_words",
            first=quote(first),
            second=quote(second),
            sentences=len(meeting.sentences),
            uniform=number(float(np.nanmean(meeting.uniform_baseline))),
        )
        st.caption(caption)
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
        places, sentences = _common(atlas, *DEFAULT_WORDS)
        return _meet(cache.model(atlas.model), atlas, sentences, places)
    except (_NotMeasuredError, ModelError):
        return None


def _meeting(screen: Screen, first: str, second: str) -> Meeting:
    """From the entry, the session, or measured now."""
    known = screen.entry.meetings[0] if screen.entry.meetings else None
    if known is not None and (first, second) == DEFAULT_WORDS:
        return known
    atlas = screen.atlas
    question = (ref(atlas), first, second)
    meeting = remembered(_CACHED, question, lambda: _measured(atlas, first, second))
    _note(atlas, first, second, meeting)
    return meeting


def _note(atlas: Atlas, first: str, second: str, meeting: Meeting) -> None:
    note_model(atlas.model)
    places = python.Variable("first"), python.Variable("second")
    for place, word in zip(places, (first, second), strict=True):
        python.made(place.name, None, python.call(phrase_positions, atlas, word))
    both = python.Variable("sentences_of_both")
    python.made(both.name, None, python.call(common_sentences, *places))
    every = python.call(getattr, atlas, "sentences")
    texts = python.each_of("number", both, partial(python.call, operator.getitem, every))
    traces = python.call(trace_corpus, python.MODEL, texts, max_tokens=cache.MAX_TOKENS)
    run = python.call(meet_words, python.call(zip, both, traces), *places)
    python.made("meeting", meeting, run)
    python.made("mean", None, python.call(getattr, meeting, "mean"))


def _measured(atlas: Atlas, first: str, second: str) -> Meeting:
    places, sentences = _common(atlas, first, second)
    model = model_of(atlas)
    if model is None:
        raise _NotMeasuredError("", str)  # `model_of` has said why
    with st.spinner(f"Running {len(sentences)} sentences through the model …"):
        return _meet(model, atlas, sentences, places)


def _common(atlas: Atlas, first: str, second: str) -> tuple[Sequence[Positions], list[int]]:
    """Where each of the words is, by sentence, and the sentences that have both."""
    try:
        places = [phrase_positions(atlas, word) for word in (first, second)]
    except SearchError as error:
        raise _NotMeasuredError(escape(str(error)), st.warning) from error
    for word, positions in zip((first, second), places, strict=True):
        if not positions:
            raise _NotMeasuredError(f"{quote(word)} is not in this corpus.")
    sentences = common_sentences(*places)
    if not sentences:
        both = f"{quote(first)} and {quote(second)}"
        raise _NotMeasuredError(f"No sentence of this corpus has both {both}.")
    return places, sentences


def _meet(
    model: LoadedModel, atlas: Atlas, sentences: list[int], places: Sequence[Positions]
) -> Meeting:
    traces = traces_of(atlas, model, sentences)
    start = next(traces, None)  # only one batch at a time is in memory
    if start is None:
        raise _NotMeasuredError(OTHER_TOKENS, st.warning)
    return meet_words(chain([start], traces), *places)


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
