"""What the anomaly table is of: the typed text, or the sample corpus with a bar and a Cancel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import corpus_table, measure_heads
from core.analysis.corpus.sample import sample_sentences
from core.model.weights import output_projection
from core.ui import cache, controls
from core.ui.cache import MAX_CORPORA
from core.ui.corpus_walk import SOURCES, corpus_digest, show_cancelled, walk_corpus

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies.flags import Measures
    from core.model import Trace
    from core.ui.cache import TextKey

NAME = "anomalies"


@dataclass(eq=False)
class AnomalyShelf:
    """A place for the anomaly table of a corpus, which a page measures under its own bar."""

    table: pd.DataFrame | None = None


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def anomaly_shelf(model_name: str, digest: str) -> AnomalyShelf:  # noqa: ARG001 - they are the key
    """The shelf of a model and a corpus, empty at first."""
    return AnomalyShelf()


def pick_source() -> str:
    """Whether the table is of the typed text or the sample corpus; from the link at first."""
    return controls.choice(
        "source",
        SOURCES,
        "Measured on",
        subject="Heads can be measured on",
        label_visibility="collapsed",
    )


def measured_table(key: TextKey, source: str) -> pd.DataFrame:
    """The anomaly table; `attrs["where"]` says in words of what."""
    model_name = key[0]
    if source == "text":
        show_cancelled(NAME, model_name, len(sample_sentences()))
        return cache.anomalies(*key)
    sentences = sample_sentences()
    shelf = anomaly_shelf(model_name, corpus_digest(sentences))
    if shelf.table is None:
        shelf.table = _measure(model_name, sentences)
    return shelf.table


@dataclass
class _Corpus:
    """What is gathered: the measures of each sentence by its place, and its separators."""

    texts: dict[int, Measures] = field(default_factory=dict)
    separators: set[str] = field(default_factory=set)


def _measure(model_name: str, sentences: tuple[str, ...]) -> pd.DataFrame:
    model = cache.model(model_name)
    similarity = cache.weight_similarity(model_name)
    grams = output_projection.value_grams(model)

    def take(into: _Corpus, place: int, trace: Trace) -> None:
        norms = output_projection.transformed_norms(model, trace, grams)
        into.texts[place] = measure_heads(trace, norms, similarity)
        into.separators.update(each.display for each in trace.tokens[1:] if each.special)

    found = walk_corpus(NAME, model_name, sentences, _Corpus, take)
    texts = [found.texts[place] for place in sorted(found.texts)]
    table = corpus_table(texts, exact=grams is not None, separators=found.separators)
    tokens = int(sum(text["tokens"].flat[0] for text in texts))
    table.attrs["where"] = f"the sample corpus ({len(texts)} sentences, {tokens:,} tokens)"
    return table
