"""What the anomaly page says in several places: thresholds, definitions, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, Row
from core.analysis.anomalies.flags import OUTLIER
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.model import Trace
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)


def row_name(row: Row) -> str:
    """The head of a row of the table, as people write it."""
    return f"L{row['layer']} H{row['head']}"


def threshold(name: str, trace: Trace) -> str:
    """When the flag is raised, in words."""
    flag, limits = FLAGS[name], FLAGS[name].limits
    side = {"above": "from ", "below": "up to ", "both": "from ±"}[limits.side]
    z = {"above": "z ≥ ", "below": "z ≤ −", "both": "|z| ≥ "}[limits.side]
    parts = [f"{side}{limits.threshold:g}"]
    if limits.outlier != limits.threshold:
        parts.append(f"or {side}{limits.outlier:g} for an outlier among the heads ({z}{OUTLIER:g})")
    if flag.condition:
        parts.append(flag.condition)
    if flag.kind != "weights":
        parts.append(f"with {MIN_TOKENS} {trace.input.queries} or more")
    return ", ".join(parts).replace("-0", "−0")


def show_definition(parts: str) -> None:
    """A link to the definition, source and threshold of a view, a paragraph each (Markdown)."""
    with st.popover("Definition", type="tertiary", width="content"):
        st.markdown(parts)


def show_flag_definition(name: str, trace: Trace, subject: str = "") -> None:
    """The same for a flag; the `subject` is said where the page is about something else too."""
    flag, limit = FLAGS[name], threshold(name, trace)
    show_definition(_words("definition", subject=subject, flag=flag, limit=limit))


def too_short_note(table: pd.DataFrame, trace: Trace) -> str:
    """Why few query tokens raise no flags (Markdown)."""
    tokens, queries = table.attrs["tokens"], trace.input.queries
    return _words("too_short", tokens=tokens, queries=queries, least=MIN_TOKENS)


def values_note(table: pd.DataFrame) -> str:
    """How values count, for captions."""
    return _words("values" if table.attrs["values"] == "|f(v)|" else "values_alone")
