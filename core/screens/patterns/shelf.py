"""Where a measured corpus and the marked pronouns stand, shared by all visitors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.ui.cache import MAX_CORPORA

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.coreference import BestHead, Resolved
    from core.analysis.corpus.sample import Sentence
    from core.analysis.head_patterns.measure import Measured
    from core.analysis.head_patterns.similarity import Distances, HeadMap


@dataclass(frozen=True, eq=False)
class Corpus:
    """The sample corpus, measured: one entry a sentence, and the distances of all heads."""

    digest: str
    sentences: tuple[str, ...]
    measured: tuple[Measured, ...]
    distances: Distances

    @property
    def tokens(self) -> int:
        """Tokens of all sentences."""
        return sum(each.tokens for each in self.measured)


@dataclass(frozen=True, eq=False)
class MarkedSet:
    """One set of marked sentences, with what every head did, sentence by sentence.

    Attributes
    ----------
    table : from :func:`core.analysis.coreference.coreference_table`; None where no pronoun counts.
    best : how well the best head does on pronouns that did not choose it.
    """

    sentences: tuple[Sentence, ...]
    resolved: tuple[Resolved, ...]
    table: pd.DataFrame | None
    best: BestHead | None


@dataclass(eq=False)
class CorpusShelf:
    """A place for what a page measures step by step, under its own progress bar.

    Attributes
    ----------
    found : the measured corpus, None until some visitor's run has finished.
    tables : its pattern table by thresholds; the last one only.
    maps : the map of its heads, once it was asked for.
    """

    found: Corpus | None = None
    tables: dict[tuple[float, ...], pd.DataFrame] = field(default_factory=dict)
    maps: list[HeadMap] = field(default_factory=list)


@dataclass(eq=False)
class PronounShelf:
    """A place for what heads did with the marked pronouns, by the name of their set."""

    sets: dict[str, MarkedSet] = field(default_factory=dict)


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def pronoun_shelf(model_name: str, digest: str) -> PronounShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and the marked sentences, empty at first."""
    return PronounShelf()


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def corpus_shelf(model_name: str, digest: str) -> CorpusShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and a corpus, empty at first."""
    return CorpusShelf()
