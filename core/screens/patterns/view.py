"""What the patterns page has measured: the table, and the chosen head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import Measured, mean_scores, measure_text
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.naming import NAMING, score_limits
from core.analysis.head_patterns.table import add_induction, withhold_names
from core.model import Trace, trace_repeated
from core.screens.patterns.corpus import Corpus, measured_corpus
from core.ui import cache
from core.ui.corpus_walk import reads_corpora
from core.ui.head_tables import HeadTable

_MAX_TABLES = 16  # kept, of a few dozen numbers a head: 40 kB


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner="Measuring every head …")
def measured_text(key: cache.TraceKey) -> Measured:
    """What the pattern table of one text is made of."""
    return measure_text(cache.trace(*key))


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


@dataclass(frozen=True, eq=False, kw_only=True)
class View(HeadTable):
    """Everything the parts of the page show.

    Without a `corpus` heads are measured on the typed text.
    """

    key: cache.TraceKey
    corpus: Corpus | None = None
    measured: Sequence[Measured]

    @property
    def limits(self) -> dict[str, float]:
        """By pattern, what the head's score must exceed: the threshold or the uniform baseline."""
        row = self.row
        scores = {pattern.score for pattern in NAMING.values()}
        uniform = {score: np.array(row[f"{score}_uniform"]) for score in scores}
        return {name: float(limit) for name, limit in score_limits(uniform).items()}

    @property
    def query_tokens(self) -> dict[str, float]:
        """By pattern, how many tokens the head's score is over; infinite for induction."""
        counts = add_induction(mean_scores(self.measured), None).query_tokens
        return {
            name: float(counts[pattern.score][self.layer, self.head])
            for name, pattern in NAMING.items()
        }

    @property
    def tokens(self) -> int:
        """How many tokens were measured."""
        return sum(each.tokens for each in self.measured)

    @property
    def short(self) -> bool:
        """Whether that is too few to name patterns by."""
        return too_short(self.tokens)

    @property
    def where(self) -> str:
        """What was measured, in words."""
        if self.corpus is None:
            return f"{self.trace.input.read} ({self.tokens} {self.trace.input.queries})"
        return f"the sample corpus ({len(self.measured)} sentences, {self.tokens:,} tokens)"


def measure_view(trace: Trace, key: cache.TraceKey, source: str, layer: int, head: int) -> View:
    """Measure, or take what was measured."""
    induction = _induction(trace.model) if reads_corpora(trace) else None
    view = partial(View, trace=trace, key=key, layer=layer, head=head)
    if source == "text":
        measured = measured_text(key)
        table = pattern_table(measured, induction)
        if too_short(measured.tokens):
            table = withhold_names(table)
        return view(measured=[measured], table=table)
    corpus = measured_corpus(trace.model)
    table = corpus.table(induction)
    return view(corpus=corpus, measured=corpus.measured, table=table)
