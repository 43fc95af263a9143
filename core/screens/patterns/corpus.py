"""What the patterns page measures on the sample corpus, from the cache or now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.corpus.sample import sample_sentences
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.measure import Measured, measure_text
from core.analysis.head_patterns.similarity import (
    MAX_LOGARITHMS,
    Distances,
    HeadMap,
    add_distances,
    compare_heads,
    map_heads,
)
from core.ui import corpus_walk
from core.ui.cache import MAX_CORPORA
from core.ui.corpus_walk import corpus_digest, walk_corpus

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.head_patterns.induction import Induction
    from core.model import Trace

NAME = "patterns"


@dataclass(eq=False)
class Corpus:
    """The measured sample corpus, shared by all visitors.

    Attributes
    ----------
    sentences, measured : one entry per sentence.
    distances : between all heads.
    """

    sentences: tuple[str, ...]
    measured: tuple[Measured, ...]
    distances: Distances
    _table: tuple[tuple[float, ...], pd.DataFrame] | None = None
    _map: HeadMap | None = None

    def table(self, thresholds: dict[str, float], induction: Induction | None) -> pd.DataFrame:
        """Its pattern table; that of the last thresholds is cached."""
        limits = tuple(thresholds.values())
        if self._table is None or self._table[0] != limits:
            with st.spinner("Resampling the corpus 1,000 times …"):
                self._table = limits, pattern_table(self.measured, thresholds, induction)
        return self._table[1]

    def head_map(self) -> HeadMap:
        """The map of its heads, laid out when it is first asked for."""
        if self._map is None:
            with st.spinner("Laying out the map …"):
                self._map = map_heads(self.distances.mean)
        return self._map


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def _corpora(model_name: str, digest: str) -> list[Corpus]:  # noqa: ARG001 - they are the key
    """A place for the measured corpus, empty until some visitor's run has finished."""
    return []


@dataclass(eq=False)
class _Gathered:
    """What has been measured so far, by the sentence's index."""

    measured: dict[int, Measured] = field(default_factory=dict)
    distances: list[Distances] = field(default_factory=list)


def measured_corpus(model_name: str) -> Corpus:
    """The sample corpus, from the cache or measured now, with a progress bar."""
    sentences = sample_sentences()
    corpora = _corpora(model_name, corpus_digest(sentences))
    if not corpora:

        def take(gathered: _Gathered, index: int, trace: Trace) -> None:
            distances = compare_heads(trace, MAX_LOGARITHMS // len(sentences))
            gathered.distances = [add_distances([*gathered.distances, distances])]
            gathered.measured[index] = measure_text(trace)

        gathered = walk_corpus(NAME, model_name, sentences, _Gathered, take)
        indices = sorted(gathered.measured)
        corpora.append(
            Corpus(
                tuple(sentences[index] for index in indices),
                tuple(gathered.measured[index] for index in indices),
                gathered.distances[0],
            )
        )
    return corpora[0]


def show_cancelled(model_name: str) -> None:
    """After a Cancel: how far it got."""
    corpus_walk.show_cancelled(NAME, model_name, len(sample_sentences()))
