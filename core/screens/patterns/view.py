"""What the patterns page has measured: the table, and the chosen head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import induction_scores
from core.analysis.head_patterns.measure import Measured, mean_scores, measure_text
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS, score_limits
from core.analysis.head_patterns.registry import CLARK
from core.analysis.head_patterns.table import add_induction, withhold_names
from core.model import Trace, trace_repeated
from core.screens.patterns import cached
from core.screens.patterns.corpus import Corpus, measured_corpus
from core.screens.patterns.wording import verdict
from core.ui import cache, controls, python
from core.ui.corpus_walk import reads_corpora
from core.ui.words.pattern_words import has_meaning, pattern_names
from core.vocabulary import head_name

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class View:
    """Everything the parts of the page show; layer and head from 0.

    Without a `corpus` heads are measured on the typed text; `table` has a row per head.
    """

    trace: Trace
    key: cache.TraceKey
    corpus: Corpus | None
    measured: Sequence[Measured]
    thresholds: dict[str, float]
    table: pd.DataFrame
    layer: int
    head: int

    @property
    def number(self) -> int:
        """The chosen head's number among all heads, from 0."""
        return self.layer * self.trace.shape[1] + self.head

    @property
    def name(self) -> str:
        """The chosen head as people read it."""
        return head_name(self.trace, self.layer, self.head)

    @property
    def row(self) -> dict[str, Any]:
        """The chosen head's row of the table."""
        return {str(name): value for name, value in self.table.iloc[self.number].items()}

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
    def verdict(self) -> str:
        """Which pattern the chosen head follows, and how clearly (Markdown)."""
        return verdict(self.trace, self.name, self.row, self.limits, self.query_tokens)

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

    def grid(self, column: str) -> NDArray[np.generic]:
        """A column of the table as (layer, head)."""
        return self.table[column].to_numpy().reshape(self.trace.shape[:2])


def measure_view(
    trace: Trace,
    key: cache.TraceKey,
    source: str,
    layer: int,
    head: int,
    thresholds: dict[str, float],
) -> View:
    """Measure, or take what was measured; the table for these thresholds."""
    induction = cached.induction(trace.model) if reads_corpora(trace) else None
    if induction is not None:
        repeated = python.call(trace_repeated, python.MODEL)
        python.made("induction", induction, python.call(induction_scores, repeated))
    moved = {name: each for name, each in thresholds.items() if each != THRESHOLDS[name]} or None
    if source == "text":
        measured = cached.measured(key)
        python.made("measured", measured, python.call(measure_text, trace))
        table = python.shown("table", pattern_table, measured, moved, induction)
        if too_short(measured.tokens):
            table = python.shown("unnamed", withhold_names, table)
        return View(trace, key, None, [measured], thresholds, table, layer, head)
    corpus = measured_corpus(trace.model)
    table = corpus.table(thresholds, induction)
    python.made("table", table, python.call(pattern_table, corpus.measured, moved, induction))
    return View(trace, key, corpus, corpus.measured, thresholds, table, layer, head)


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
    st.caption(
        "What a score must exceed, unless the uniform baseline is higher."
        f" {CLARK}, for texts: {', '.join(by_clark)}. The others are ours."
    )
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
