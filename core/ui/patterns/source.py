"""What heads are measured on: the typed text, or the sample corpus with a bar and a Cancel."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference import Resolved, resolve
from core.analysis.head_similarity import MOST_LOGARITHMS, Distances, add_distances, compare_heads
from core.analysis.pattern_measure import Measured, measure_text
from core.analysis.sample_corpus import sample_corpus, sample_sentences
from core.model import ModelError, trace_by_length
from core.ui import cache
from core.ui.messages import show_model_error

if TYPE_CHECKING:
    from core.model import Trace

SOURCES = {"text": "your text", "corpus": "sample corpus"}
_PARTIAL = "_patterns_partial"
_TELL_EVERY = 4  # sentences between two steps of the progress bar


@dataclass(frozen=True, eq=False)
class Corpus:
    """The sample corpus, measured: one entry a sentence, and the distances of all heads.

    `resolved` are the pronouns of the sentences that have some marked, by the sentence's place.
    """

    digest: str
    sentences: tuple[str, ...]
    measured: tuple[Measured, ...]
    distances: Distances
    resolved: dict[int, Resolved]

    @property
    def tokens(self) -> int:
        """Tokens of all sentences."""
        return sum(each.tokens for each in self.measured)


@dataclass(eq=False)
class _Partial:
    """What one visitor has measured before a click or a Cancel."""

    of: tuple[str, str]
    measured: dict[int, Measured]
    resolved: dict[int, Resolved]
    distances: Distances | None = None


def corpus_digest(sentences: tuple[str, ...]) -> str:
    """What the measured corpus is cached by, beside the model."""
    return hashlib.sha256("\n".join(sentences).encode()).hexdigest()


def measured_corpus(model_name: str) -> Corpus:
    """The sample corpus, from the cache or measured now, with a progress bar; else ends the page.

    What was measured before a click or a Cancel is not measured again.
    """
    sentences = sample_sentences()
    digest = corpus_digest(sentences)
    shelf = cache.corpus_shelf(model_name, digest)
    if shelf.found is None:
        partial = st.session_state.get(_PARTIAL)
        if partial is None or partial.of != (model_name, digest):
            partial = _Partial((model_name, digest), {}, {})
            st.session_state[_PARTIAL] = partial
        try:
            shelf.found = _measure(model_name, sentences, partial)
        except ModelError as error:
            show_model_error(error)
            st.stop()
        st.session_state.pop(_PARTIAL, None)
    found: Corpus = shelf.found
    return found


def say_cancelled(model_name: str) -> None:
    """After a Cancel: how far it came."""
    partial = st.session_state.get(_PARTIAL)
    if partial is not None and partial.of[0] == model_name and partial.measured:
        st.caption(
            f"The sample corpus was left after {len(partial.measured)} of"
            f" {len(sample_sentences())} sentences; choose it again to go on from there."
        )


def _measure(model_name: str, sentences: tuple[str, ...], partial: _Partial) -> Corpus:
    model = cache.model(model_name)
    done = len(partial.measured)
    left = [place for place in range(len(sentences)) if place not in partial.measured]
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(done / len(sentences), text=_progress(done, len(sentences)))
        st.button("Cancel", key="patterns_cancel", on_click=_leave_corpus)
    marked = {sentence.text: sentence for sentence in sample_corpus() if sentence.mentions}
    for index, trace in trace_by_length(model, [sentences[place] for place in left]):
        place = left[index]
        if sentence := marked.get(sentences[place]):
            partial.resolved[place] = resolve(trace, sentence)
        _add(partial, place, trace, MOST_LOGARITHMS // len(sentences))
        done = len(partial.measured)
        if done % _TELL_EVERY == 0:  # also where Streamlit notices that Cancel was pressed
            bar.progress(done / len(sentences), text=_progress(done, len(sentences)))
    slot.empty()
    places = sorted(partial.measured)
    assert partial.distances is not None  # noqa: S101 - there is no corpus without a sentence
    return Corpus(
        partial.of[1],
        tuple(sentences[place] for place in places),
        tuple(partial.measured[place] for place in places),
        partial.distances,
        {places.index(place): partial.resolved[place] for place in sorted(partial.resolved)},
    )


def _add(partial: _Partial, place: int, trace: Trace, most_logarithms: int) -> None:
    distances = compare_heads(trace, most_logarithms)
    if partial.distances is not None:
        distances = add_distances([partial.distances, distances])
    partial.distances = distances
    partial.measured[place] = measure_text(trace)


def _progress(done: int, total: int) -> str:
    return f"Measuring every head on the sample corpus: {done} of {total} sentences"


def _leave_corpus() -> None:
    st.session_state["source"] = "text"
