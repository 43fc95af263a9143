"""What the anomaly table covers: the typed text, or the sample corpus with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import anomaly_table, corpus_table, measure_heads
from core.analysis.anomalies.flags import Measures
from core.corpus.sample import sample_sentences
from core.model import Trace
from core.model.trace import Array
from core.model.weights import output_projection
from core.model.weights.query_key import weight_similarity
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measured_on
from core.vocabulary import Modality

if TYPE_CHECKING:
    import pandas as pd


NAME = "anomalies"
_MAX_TABLES = 16  # kept, of a few dozen numbers a head: 40 kB


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner=False)
def _similarity_of(model_name: str, modality: Modality = "text") -> Array | None:
    """How similar W_Q and W_K of each head are, (layer, head); None where they are not known."""
    if (shipped := cache.first_of(model_name)) is not None:
        return shipped.similarity
    return weight_similarity(cache.model(model_name, modality))


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner="Measuring every head …")
def anomalies(key: TraceKey) -> pd.DataFrame:
    """The table of core.analysis.anomalies. Shared by sessions: nobody may write to it."""
    weights = None if key.attention_type else _similarity_of(key.model, key.modality)
    table = anomaly_table(cache.trace(*key), cache.transformed_norms(key), weights)
    table.attrs["where"] = f"this {key.modality}"
    return table


def measured_table(key: TraceKey, source: str) -> pd.DataFrame:
    """The anomaly table; `attrs["where"]` says in words what it covers."""
    if source == "text":
        return anomalies(key)
    return measured_on(NAME, key[0], sample_sentences(), partial(_measure, key[0]))


def _measure(model_name: str, traces: Iterator[tuple[int, Trace]]) -> pd.DataFrame:
    model = cache.model(model_name)
    similarity = _similarity_of(model_name)
    grams = output_projection.value_grams(model)
    measured: dict[int, Measures] = {}
    layer_labels: Sequence[int] = ()
    for index, trace in traces:
        norms = output_projection.transformed_norms(model, trace, grams)
        measured[index] = measure_heads(trace, norms, similarity)
        layer_labels = trace.layer_labels
    texts = [measured[index] for index in sorted(measured)]
    table = corpus_table(texts, layer_labels, exact=grams is not None)
    tokens = int(sum(text["tokens"].flat[0] for text in texts))
    table.attrs["where"] = f"the sample corpus ({len(texts)} sentences, {tokens:,} tokens)"
    return table
