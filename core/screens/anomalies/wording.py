"""What the anomaly page says in several places: thresholds, definitions, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, Row
from core.analysis.anomalies.flags import KINDS, OUTLIER
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.model import Trace
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
KIND_NOTES = {
    "attention": "determined by the model's attention itself",
    "space": "the constants a and c can change these without changing one attention weight",
    "weights": "whatever the model is shown",
}
SEVERITY = (
    "how far a head's flagged measures lie from ordinary, in units of the threshold's distance,"
    " summed: a head at one threshold has 1. Of flags with one cause (a sink and its low entropy,"
    " null attention and an empty value, unequal lengths and clouds apart) the strongest counts"
)

UNUSUAL = (
    "how far a head's flagged measures lie from ordinary, the rarer a flag among this model's heads"
    " the more (times log2 of all heads over those that have it). What most heads do adds little."
    " A head stands out by a flag that at most one head in ten has, or as an outlier among the"
    " model's heads (|z| ≥ 3.5); for what is usual in trained transformers only the latter counts"
)


def row_name(row: Row) -> str:
    """The head of a row of the table, as people write it."""
    return f"L{row['layer']} H{row['head']}"


def longer_side(row: Row) -> str:
    """Which vectors of a head are longer, and how many times."""
    value = float(row["norm_log_ratio"])
    return _words("longer_side", queries=value > 0, times=2 ** abs(value))


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
    return ", ".join(parts)


def show_definition(definition: str, source: str, limit: str) -> None:
    """Definition, source and threshold of a view, in one small paragraph (Markdown)."""
    st.caption(f"**Definition:** {definition}  \n**Source:** {source}  \n**Threshold:** {limit}")


def show_flag_definition(name: str, trace: Trace) -> None:
    """The same for a flag, and what it depends on."""
    flag = FLAGS[name]
    show_definition(flag.definition, f"{flag.source}.", f"flagged {threshold(name, trace)}.")
    st.caption(f"**{KINDS[flag.kind]}:** {KIND_NOTES[flag.kind]}.")


def too_short_note(table: pd.DataFrame, trace: Trace) -> str:
    """Why few query tokens raise no flags (Markdown)."""
    tokens, queries = table.attrs["tokens"], trace.input.queries
    return _words("too_short", tokens=tokens, queries=queries, least=MIN_TOKENS)


def values_note(*, exact: bool) -> str:
    """How values count, for captions."""
    return _words("values" if exact else "values_alone")
