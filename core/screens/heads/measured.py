"""Measures of every head, on the text or the sample corpus: one table for all pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.anomalies import (
    MEASURES,
    HeadMeasure,
    anomaly_table,
    corpus_table,
    measure_heads,
)
from core.analysis.anomalies.measures import Measures
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import TextScores, mean_scores, measure_text
from core.analysis.head_patterns.naming import NAMING, score_limits, too_short
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.similarity import (
    MAX_LOGARITHMS,
    Distances,
    add_distances,
    compare_heads,
)
from core.analysis.head_patterns.table import add_induction, withhold_names
from core.corpus.sample import sample_sentences
from core.model import Trace, trace_repeated
from core.model.trace import Array
from core.model.weights import output_projection
from core.model.weights.query_key import weight_similarity
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measured_on, reads_corpora
from core.ui.heads import HeadTable
from core.ui.words.pattern_words import has_meaning, score_names
from core.vocabulary import Modality

if TYPE_CHECKING:
    import pandas as pd

_MAX_TABLES = 16  # kept, each a few dozen numbers per head: 80 kB


class OneText(NamedTuple):
    """Measures of all heads on one text; shared by sessions, so never modify it."""

    measured: tuple[TextScores, ...]
    table: pd.DataFrame
    distances: Distances | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Heads(HeadTable):
    """Measures of every head, on the typed text if `distances` is None.

    The table has the columns of ``pattern_table`` and ``anomaly_table``, and of ``effect_table``
    where the effects on this text are known.
    """

    key: TraceKey
    measured: Sequence[TextScores]
    distances: Distances | None = None  # between all heads, over the sample corpus

    @property
    def limits(self) -> dict[str, float]:
        """For each pattern, what the head's score must exceed: threshold or uniform baseline."""
        row = self.row
        scores = {pattern.score for pattern in NAMING.values()}
        uniform = {score: np.array(row[f"{score}_uniform"]) for score in scores}
        return {name: float(limit) for name, limit in score_limits(uniform).items()}

    @property
    def query_tokens(self) -> dict[str, float]:
        """For each pattern, how many query tokens the score is over; infinite for induction."""
        counts = add_induction(mean_scores(self.measured), None).query_tokens
        return {
            name: float(counts[pattern.score][self.layer, self.head])
            for name, pattern in NAMING.items()
        }

    @property
    def tokens(self) -> int:
        """The number of tokens measured."""
        return sum(each.tokens for each in self.measured)

    @property
    def short(self) -> bool:
        """Whether these are too few to name patterns."""
        return too_short(self.tokens)

    @property
    def over_corpus(self) -> bool:
        """Whether the measures are over the sample corpus."""
        return self.distances is not None

    @property
    def where(self) -> str:
        """The text or corpus that was measured, in words."""
        if self.over_corpus:
            return f"the sample corpus ({len(self.measured)} sentences, {self.tokens:,} tokens)"
        return f"{self.trace.input.read} ({self.tokens} {self.trace.input.queries})"

    @property
    def measures(self) -> dict[str, HeadMeasure]:
        """The measures in the table, keyed by column: pattern scores first."""
        names = score_names(self.trace)
        scores = dict.fromkeys(each.score for each in PATTERNS if has_meaning(self.trace, each))
        titles = {names[score]: score for score in reversed(scores)}  # each once
        own = {score: HeadMeasure(name, name) for name, score in reversed(titles.items())}
        if "distance" in own:  # in tokens
            own["distance"] = HeadMeasure(names["distance"], names["distance"], None)
        others = {
            name: each
            for name, each in MEASURES.items()
            if name in self.table and not (self.over_corpus and "text" in each.needs)
        }
        return own | {name: each for name, each in others.items() if name not in own}


def measure(trace: Trace, key: TraceKey, source: str, layer: int, head: int) -> Heads:
    """Measure every head, or take the cached measures."""
    if source == "text":
        measured, table, distances = measured_text(key)
    else:
        run = partial(_measure_corpus, trace.model)
        measured, table, distances = measured_on("heads", trace.model, sample_sentences(), run)
    heads = partial(Heads, trace=trace, key=key, layer=layer, head=head)
    return heads(table=table, measured=measured, distances=distances)


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner="Measuring every head …")
def measured_text(key: TraceKey) -> OneText:
    """The measures of all heads on one text or image."""
    trace = cache.trace(*key)
    measured = measure_text(trace)
    induction = _induction(trace.model) if reads_corpora(trace) else None
    patterns = pattern_table(measured, induction)
    if too_short(measured.tokens):
        patterns = withhold_names(patterns)
    weights = None if key.attention_type else _similarity_of(key.model, key.modality)
    odd = anomaly_table(trace, cache.transformed_norms(key), weights)
    table = join_columns(patterns, odd)
    table.attrs["where"] = f"this {key.modality}"
    return OneText((measured,), table)


def _measure_corpus(model_name: str, traces: Iterator[tuple[int, Trace]]) -> OneText:
    model = cache.model(model_name)
    similarity, induction = _similarity_of(model_name), _induction(model_name)
    grams = output_projection.value_grams(model)
    texts: dict[int, tuple[TextScores, Measures]] = {}
    distances: list[Distances] = []
    for index, trace in traces:
        compared = compare_heads(trace, MAX_LOGARITHMS // len(sample_sentences()))
        distances = [add_distances([*distances, compared])]
        norms = output_projection.transformed_norms(model, trace, grams)
        texts[index] = measure_text(trace), measure_heads(trace, norms, similarity)
    measured, odd = zip(*(texts[index] for index in sorted(texts)), strict=True)
    unusual = corpus_table(odd, measured[0].layer_labels, exact=grams is not None)
    table = join_columns(pattern_table(measured, induction), unusual)
    result = OneText(measured, table, distances[0])
    tokens = sum(text.tokens for text in measured)
    table.attrs["where"] = f"the sample corpus ({len(measured)} sentences, {tokens:,} tokens)"
    return result


def join_columns(first: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Both tables of the same heads side by side; where both have a column, the first wins."""
    new = other[[name for name in other if name not in first]]
    table = first.join(new)
    table.attrs = {**first.attrs, **other.attrs}
    return table


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner=False)
def _similarity_of(model_name: str, modality: Modality = "text") -> Array | None:
    """How similar W_Q and W_K of each head are, (layer, head); None if they are unknown."""
    if (shipped := cache.first_of(model_name)) is not None:
        return shipped.similarity
    return weight_similarity(cache.model(model_name, modality))


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner="Looking for heads that copy …")
def _induction(model_name: str) -> Induction | None:
    """Induction scores on random sequences; None for a model that takes too few tokens."""
    shipped = cache.first_of(model_name)
    if shipped is not None and shipped.induction is not None:
        return Induction(*shipped.induction)
    try:
        return induction_scores(trace_repeated(cache.model(model_name)))
    except ValueError:
        return None
