"""What the patterns page measures on built-in sentences, from the cache or now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.corpus.sample import sample_sentences
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction
from core.analysis.head_patterns.measure import Measured, measure_text
from core.analysis.head_patterns.similarity import (
    MAX_LOGARITHMS,
    Distances,
    HeadMap,
    add_distances,
    compare_heads,
    map_heads,
)
from core.model import Trace
from core.ui import controls, corpus_walk
from core.ui.corpus_walk import is_measured, measured_once, walk_corpus

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


NAME, _OF_FEW = "patterns", "patterns_few"
_FEW = 48  # sentences, or a few more, that are drawn before all are measured


@dataclass(eq=False)
class Corpus:
    """The measured sample corpus, shared by all visitors; `distances` are between all heads."""

    sentences: tuple[str, ...]
    measured: tuple[Measured, ...]
    distances: Distances
    _table: pd.DataFrame | None = None
    _map: HeadMap | None = None

    def table(self, induction: Induction | None) -> pd.DataFrame:
        """Its pattern table, made when it is first asked for."""
        if self._table is None:
            with st.spinner("Resampling the corpus 1,000 times …"):
                self._table = pattern_table(self.measured, induction)
        return self._table

    def head_map(self) -> HeadMap:
        """The map of its heads, laid out when it is first asked for."""
        if self._map is None:
            with st.spinner("Laying out the map …"):
                self._map = map_heads(self.distances.mean)
        return self._map


@dataclass(eq=False)
class _Gathered:
    """What has been measured so far, by the sentence's index."""

    measured: dict[int, Measured] = field(default_factory=dict)
    distances: list[Distances] = field(default_factory=list)


def measured_corpus(model_name: str, *, few: bool) -> Corpus:
    """The sample corpus, from the cache or measured now, with a progress bar.

    As long as it is not measured, `few` gives sentences evenly spaced in it.
    """
    name, sentences = NAME, sample_sentences()
    spaced = slice(None, None, len(sentences) // _FEW or 1)
    if few and spaced.step > 1 and not is_measured(name, model_name, sentences):
        name, sentences = _OF_FEW, sentences[spaced]
    return measured_once(name, model_name, sentences, lambda: _measure(name, model_name, sentences))


def measure_rest(model_name: str, corpus: Corpus, place: DeltaGenerator) -> None:
    """After a page that shows a few sentences: measure all, under a bar in `place`, and draw it."""
    if len(corpus.sentences) < len(sample_sentences()):
        controls.publish()
        with place.container():
            measured_corpus(model_name, few=False)
        st.rerun()


def _measure(name: str, model_name: str, sentences: tuple[str, ...]) -> Corpus:
    def take(gathered: _Gathered, index: int, trace: Trace) -> None:
        distances = compare_heads(trace, MAX_LOGARITHMS // len(sentences))
        gathered.distances = [add_distances([*gathered.distances, distances])]
        gathered.measured[index] = measure_text(trace)

    gathered = walk_corpus(name, model_name, sentences, _Gathered, take)
    indices = sorted(gathered.measured)
    return Corpus(
        tuple(sentences[index] for index in indices),
        tuple(gathered.measured[index] for index in indices),
        gathered.distances[0],
    )


def show_cancelled(model_name: str) -> None:
    """After a Cancel: how far it got."""
    for name in (_OF_FEW, NAME):
        corpus_walk.show_cancelled(name, model_name, len(sample_sentences()))
