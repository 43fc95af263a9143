"""What the patterns page has measured: the table, and which head is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.head_patterns.measure import mean_scores
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS, thresholds_above
from core.analysis.head_patterns.registry import CLARK
from core.analysis.head_patterns.table import add_induction, make_table, withhold_classes
from core.screens.patterns.shelf import Corpus, corpus_shelf
from core.screens.patterns.source import measured_corpus
from core.screens.patterns.wording import head_name, verdict
from core.ui import cache, controls
from core.ui.words.pattern_words import PATTERN_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.head_patterns.induction import Induction
    from core.analysis.head_patterns.measure import Measured
    from core.model import Trace


@dataclass(frozen=True, eq=False)
class Found:
    """Everything the parts of the page show; layer and head from 0.

    Attributes
    ----------
    corpus : the measured corpus, None where heads are measured on the typed text.
    table : from :func:`core.analysis.head_patterns.table.make_table`, a row a head.
    """

    trace: Trace
    key: cache.TextKey
    corpus: Corpus | None
    measured: Sequence[Measured]
    induction: Induction | None
    thresholds: dict[str, float]
    table: pd.DataFrame
    layer: int
    head: int

    @property
    def row(self) -> dict[str, object]:
        """The chosen head's row of the table."""
        return self.row_of(self.number)

    @property
    def number(self) -> int:
        """The chosen head among all heads, from 0."""
        return self.layer * self.trace.shape[1] + self.head

    @property
    def name(self) -> str:
        """The chosen head as people read it."""
        return head_name(self.layer, self.head)

    @property
    def verdict(self) -> str:
        """Which pattern the chosen head follows, and how clearly (Markdown)."""
        return verdict(
            self.name,
            self.row,
            self.thresholds_of(self.number),
            self.query_tokens_of(self.number),
        )

    @property
    def where(self) -> str:
        """What was measured, in words."""
        if self.corpus is None:
            return f"your text ({len(self.trace.tokens)} tokens)"
        return (
            f"the sample corpus ({len(self.corpus.sentences)} sentences, {self.corpus.tokens:,}"
            " tokens)"
        )

    def row_of(self, number: int) -> dict[str, object]:
        """A head's row of the table, by its number among all heads."""
        return {str(name): value for name, value in self.table.iloc[number].items()}

    @property
    def tokens(self) -> int:
        """How many tokens were measured."""
        return sum(each.tokens for each in self.measured)

    @property
    def short(self) -> bool:
        """Whether that is too little to name patterns by."""
        return too_short(self.tokens)

    def thresholds_of(self, number: int) -> dict[str, float]:
        """By pattern, what a head's score must exceed: the threshold, or the uniform baseline."""
        row = self.row_of(number)
        uniform = {
            pattern.score: np.array(row[f"{pattern.score}_uniform"]) for pattern in NAMING.values()
        }
        limits = thresholds_above(uniform, self.thresholds)
        return {kind: float(limit) for kind, limit in limits.items()}

    def query_tokens_of(self, number: int) -> dict[str, float]:
        """By pattern, how many tokens a head's score is over; no limit for induction."""
        layer, head = divmod(number, self.trace.shape[1])
        counts = add_induction(mean_scores(self.measured), None).query_tokens
        return {kind: float(counts[each.score][layer, head]) for kind, each in NAMING.items()}

    def grid(self, column: str) -> NDArray[np.generic]:
        """A column of the table as (layer, head)."""
        return self.table[column].to_numpy().reshape(self.trace.shape[:2])


def find(
    trace: Trace,
    key: cache.TextKey,
    source: str,
    layer: int,
    head: int,
    thresholds: dict[str, float],
) -> Found:
    """Measure, or take what was measured; the table by these thresholds."""
    induction = cache.induction(trace.model)
    if source == "text":
        measured: Sequence[Measured] = (cache.measured(key),)
        table, corpus = make_table(measured, thresholds, induction), None
        if too_short(measured[0].tokens):
            table = withhold_classes(table)
    else:
        corpus = measured_corpus(trace.model)
        measured = corpus.measured
        table = _corpus_table(corpus, trace.model, thresholds, induction)
    return Found(trace, key, corpus, measured, induction, thresholds, table, layer, head)


def _corpus_table(
    corpus: Corpus, model_name: str, thresholds: dict[str, float], induction: Induction | None
) -> pd.DataFrame:
    shelf = corpus_shelf(model_name, corpus.digest)
    limits = tuple(thresholds.values())
    table = shelf.tables.get(limits)
    if table is None:
        with st.spinner("Drawing the corpus anew, 1,000 times …"):
            table = make_table(corpus.measured, thresholds, induction, intervals=True)
        shelf.tables = {limits: table}
    return table


def pick_thresholds(*, drawn: bool) -> dict[str, float]:
    """What each score must exceed; with a popover of a number a class, where it is `drawn`."""
    thresholds = {name: _threshold(name) for name in NAMING}
    moved = sum(thresholds[name] != THRESHOLDS[name] for name in NAMING)
    if not drawn:
        return thresholds
    with st.popover(f"Thresholds ({moved} moved)" if moved else "Thresholds"):
        st.caption(
            "What a score must exceed; where the uniform baseline is higher, that."
            f" {CLARK}: {_named(CLARK)}. The others are ours."
        )
        columns = st.columns(3)
        for place, name in enumerate(NAMING):
            with columns[place % 3]:
                _threshold(name, _capital(PATTERN_NAMES[name]))
        st.button("Usual thresholds", on_click=_reset, disabled=not moved, key="patterns_reset")
    return thresholds


def _threshold(name: str, label: str = "") -> float:
    return controls.number(
        f"min_{name}", 0.0, 1.0, THRESHOLDS[name], label, step=0.05, format="%.2f"
    )


def _named(source: str) -> str:
    """The patterns with thresholds of a source."""
    return ", ".join(PATTERN_NAMES[name] for name in NAMING if NAMING[name].source == source)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _reset() -> None:
    st.session_state.update({f"min_{name}": THRESHOLDS[name] for name in NAMING})
