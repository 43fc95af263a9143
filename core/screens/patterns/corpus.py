"""What the patterns page measures on built-in sentences, from the cache or now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

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
from core.corpus.sample import sample_sentences
from core.model import Trace
from core.ui.corpus_walk import measured_on

if TYPE_CHECKING:
    import pandas as pd


NAME = "patterns"


@dataclass(eq=False)
class Corpus:
    """The measured sample corpus, shared by all visitors; `distances` are between all heads."""

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


def measured_corpus(model_name: str) -> Corpus:
    """The sample corpus, from the cache or measured now, with a progress bar."""
    return measured_on(NAME, model_name, sample_sentences(), _measure)


def _measure(traces: Iterator[tuple[int, Trace]]) -> Corpus:
    measured: dict[int, Measured] = {}
    distances: list[Distances] = []
    for index, trace in traces:
        compared = compare_heads(trace, MAX_LOGARITHMS // len(sample_sentences()))
        distances = [add_distances([*distances, compared])]
        measured[index] = measure_text(trace)
    return Corpus(tuple(measured[index] for index in sorted(measured)), distances[0])
