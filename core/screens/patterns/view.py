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
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS, score_limits
from core.analysis.head_patterns.registry import CLARK
from core.analysis.head_patterns.table import add_induction, withhold_names
from core.model import Trace, trace_repeated
from core.screens.patterns.corpus import Corpus, measured_corpus
from core.ui import cache, controls, python
from core.ui.corpus_walk import reads_corpora
from core.ui.head_tables import HeadTable
from core.ui.words.pattern_words import has_meaning, pattern_names
from core.ui.words.prose import Prose

_words = Prose(__file__)
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
    thresholds: dict[str, float]

    @property
    def limits(self) -> dict[str, float]:
        """By pattern, what the head's score must exceed: the threshold or the uniform baseline."""
        row = self.row
        scores = {pattern.score for pattern in NAMING.values()}
        uniform = {score: np.array(row[f"{score}_uniform"]) for score in scores}
        return {
            name: float(limit) for name, limit in score_limits(uniform, self.thresholds).items()
        }

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


def measure_view(
    trace: Trace,
    key: cache.TraceKey,
    source: str,
    layer: int,
    head: int,
    thresholds: dict[str, float],
    *,
    few: bool,
) -> View:
    """Measure, or take what was measured; the table for these thresholds.

    With `few` sentences as long as the sample corpus is not measured.
    """
    induction = _induction(trace.model) if reads_corpora(trace) else None
    if induction is not None:
        repeated = python.call(trace_repeated, python.MODEL)
        python.made("induction", induction, python.call(induction_scores, repeated))
    view = partial(View, trace=trace, key=key, layer=layer, head=head, thresholds=thresholds)
    moved = {name: each for name, each in thresholds.items() if each != THRESHOLDS[name]} or None
    if source == "text":
        measured = measured_text(key)
        python.made("measured", measured, python.call(measure_text, trace))
        table = python.shown("table", pattern_table, measured, moved, induction)
        if too_short(measured.tokens):
            table = python.shown("unnamed", withhold_names, table)
        return view(measured=[measured], table=table)
    corpus = measured_corpus(trace.model, few=few)
    table = corpus.table(thresholds, induction)
    python.made("table", table, python.call(pattern_table, corpus.measured, moved, induction))
    return view(corpus=corpus, measured=corpus.measured, table=table)


def pick_thresholds(trace: Trace, *, drawn: bool) -> dict[str, float]:
    """What each score must exceed; with a number per pattern below another where it is `drawn`."""
    thresholds = {name: _threshold(name) for name in NAMING}
    moved = sum(thresholds[name] != THRESHOLDS[name] for name in NAMING)
    if not drawn:
        return thresholds
    measured = {name: each for name, each in NAMING.items() if has_meaning(trace, each)}
    names = pattern_names(trace)
    by_clark = [names[name] for name, each in measured.items() if each.source == CLARK]
    st.markdown(f"**Thresholds** ({moved} changed)" if moved else "**Thresholds**")
    st.caption(_words("thresholds", clark=CLARK, patterns=", ".join(by_clark)))
    columns = st.columns(2)
    for index, name in enumerate(measured):
        with columns[index % 2]:
            title = names[name]
            _threshold(name, title[:1].upper() + title[1:])
    st.button("Reset thresholds", on_click=_reset, disabled=not moved, key="patterns_reset")
    return thresholds


def _threshold(name: str, label: str = "") -> float:
    return controls.number(
        f"min_{name}", 0.0, 1.0, THRESHOLDS[name], label, step=0.05, format="%.2f"
    )


def _reset() -> None:
    st.session_state.update({f"min_{name}": THRESHOLDS[name] for name in NAMING})
