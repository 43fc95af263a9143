"""What the anomaly page says in several places: examples, definitions, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, Row, max_row
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.statistics import OUTLIER
from core.model import Trace
from core.ui.presets import Preset
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def row_name(row: Row) -> str:
    """The head of a row of the table, as people write it."""
    return f"L{row['layer']} H{row['head']}"


def examples(trace: Trace, table: pd.DataFrame) -> list[Preset]:
    """Views worth seeing; only patches can have high norms, and cross attention has no states."""
    resting = max_row(table, "first_attention")
    place = {name: str(resting[name]) for name in ("layer", "head")}
    first = f"Why heads rest on {trace.input.first}"
    presets = [Preset(first, _words("beneath"), {"anomaly": "moved", "latent": True, **place})]
    if trace.input.kind == "image":
        presets.append(Preset("High-norm patches", _words("high_norm"), {"anomaly": "odd"}))
    if trace.input.kind != "cross":
        presets.append(Preset("Massive activations", _words("massive"), {"anomaly": "states"}))
    return presets


def show_definition(parts: str) -> None:
    """A link to the definition, source and threshold of a view, a paragraph each (Markdown)."""
    with st.popover("Definition", type="tertiary", width="content"):
        st.markdown(parts)


def show_flag_definition(name: str, trace: Trace, subject: str = "") -> None:
    """The same for a flag; the `subject` is said where the page is about something else too."""
    least = f"{MIN_TOKENS} {trace.input.queries}"
    flag, limits = FLAGS[name], FLAGS[name].limits
    show_definition(
        _words("definition", subject=subject, flag=flag, limits=limits, z=OUTLIER, least=least)
    )


def too_short_note(table: pd.DataFrame, trace: Trace) -> str:
    """Why few query tokens raise no flags (Markdown)."""
    tokens, queries = table.attrs["tokens"], trace.input.queries
    return _words("too_short", tokens=tokens, queries=queries, least=MIN_TOKENS)


def values_note(table: pd.DataFrame) -> str:
    """How values count, for captions."""
    return _words("values" if table.attrs["values"] == "|f(v)|" else "values_alone")
