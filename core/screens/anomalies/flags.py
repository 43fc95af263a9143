"""The flagged heads: a map, the list by severity, the whole table, and files to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, as_map, flagged, with_flag
from core.analysis.anomalies.flags import KINDS, Kind
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.open_head import show_what_moves
from core.screens.anomalies.report import make_report
from core.screens.anomalies.standing_out import show_list, stand_out_sentence
from core.screens.anomalies.wording import (
    KIND_NOTES,
    SEVERITY,
    UNUSUAL,
    show_definition,
    show_flag_definition,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.current import current_key
from core.ui.downloads import contents, csv_later, offer_file
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


ANY = "any flag"
# A kind with several flags can be looked for as one.
_KINDS: dict[str, Kind] = {
    "any flag of attention and values": "attention",
    "any flag of queries and keys": "space",
}
CHOICES = [ANY, *_KINDS, *FLAGS]


def show_flags(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """Map and list of one flag, of a kind or of all; then the table and the files."""
    with row:
        choice = controls.choice(
            "flag", CHOICES, "Look for", subject="The flags are", menu=True, width=250
        )
    if trace.source is not None:
        st.caption("The first token, sinks and values below are those of your text.")
    if table.attrs["too_short"]:
        st.info(too_short_note(table, trace))
    odd = _flagged(table, choice)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        _show_map(trace, table, choice, colours)
        if choice not in FLAGS:
            _explain_map(choice)
    with right:
        of_one = choice in FLAGS
        st.markdown(_flag_summary(table, odd, choice) if of_one else _summary(table, choice))
        if of_one:
            show_flag_definition(choice, trace)
        if len(odd):
            show_list(table, odd, every_flag=choice == ANY)
    with st.container(horizontal=True):
        _offer_files(trace, current_key(trace.model), table)
    with st.expander("Every measure of every head"):
        _show_table(table)


def _explain_map(choice: str) -> None:
    name, word, measure = (
        ("Unusual", "unusual", UNUSUAL) if choice == ANY else ("Severity", "severe", SEVERITY)
    )
    st.caption(
        f"Each square is a head; the darker, the more {word}. Click one to see what it moves.",
        help=f"{name}: {measure}.",
    )


def _flagged(table: pd.DataFrame, choice: str) -> pd.DataFrame:
    """The heads with what is looked for: those that stand out first, then the most unusual."""
    odd = flagged(table)
    if choice in FLAGS:
        return with_flag(odd, choice)
    if choice == ANY:
        return odd
    severity = f"severity_{_KINDS[choice]}"
    return odd[odd[severity] > 0].sort_values(severity, ascending=False, kind="stable")


def _summary(table: pd.DataFrame, choice: str) -> str:
    """Which heads stand out, or of one kind how many heads have each flag (Markdown)."""
    if choice == ANY and not table.attrs["too_short"]:
        return stand_out_sentence(table)
    kinds: list[Kind] = ["weights"] if choice == ANY else [_KINDS[choice]]
    if table.attrs["too_short"] and choice != ANY:
        kinds = []
    lines = [f"**{KINDS[kind]}** ({KIND_NOTES[kind]}): {_counts(table, kind)}." for kind in kinds]
    if not table.attrs["too_short"]:
        count = len(_flagged(table, choice))
        verb = "has" if count == 1 else "have"
        heads = (
            f"**{count} of {len(table)} heads** {verb}"
            if count
            else "**No head of this model has**"
        )
        flag = f"a flag of {KINDS[_KINDS[choice]].lower()}"
        lines.insert(0, f"{heads} {flag} on {table.attrs['where']}.")
    return "  \n".join(lines)


def _counts(table: pd.DataFrame, kind: Kind) -> str:
    """How many heads have each flag of a kind, and which flags none has."""
    counts = {
        name: len(with_flag(table, name))
        for name, flag in FLAGS.items()
        if flag.kind == kind and table[flag.measure].notna().any()
    }
    if not counts:
        return "nothing is measured here"
    by_count = sorted(filter(counts.get, counts), key=lambda name: -counts[name])
    parts = [", ".join(f"{name} {counts[name]}" for name in by_count)] if by_count else []
    if absent := [name for name in counts if not counts[name]]:
        *others, last = absent
        parts.append(f"none has {', '.join(others)}{' or ' if others else ''}{last}")
    return "; ".join(parts)


def _flag_summary(table: pd.DataFrame, odd: pd.DataFrame, name: str) -> str:
    flag, where = FLAGS[name], table.attrs["where"]
    values = table[flag.measure].dropna()
    if values.empty:
        return f"**{name.capitalize()}** cannot be measured for this model on {where}."
    low, high = (f"{value:.2f}".replace("-", "−") for value in (values.min(), values.max()))
    span = f"{flag.title} ranges from {low} to {high}"
    if table.attrs["too_short"] and flag.kind != "weights":
        return f"**{name.capitalize()}: too short to say.** {span[0].upper()}{span[1:]}."
    if odd.empty:
        return f"**No head of this model has {name} on {where}**: {span}."
    verb = "has" if len(odd) == 1 else "have"
    return f"**{len(odd)} of {len(table)} heads** {verb} {name} on {where}."


def _show_map(trace: Trace, table: pd.DataFrame, choice: str, colours: Palette) -> None:
    """Severity, or the measure of one flag; a clicked head is shown with what it moves."""
    if choice in FLAGS:
        flag = FLAGS[choice]
        values, name = as_map(table, flag.measure), flag.title
        reach = max(abs(flag.limits.threshold), float(np.nanmax(np.abs(values), initial=0)))
        look: dict[str, Any] = {
            "bounds": flag.bounds or (-reach, reach),
            "title": flag.unit,
            "signed": flag.limits.side == "both",
            "reverse": flag.limits.side == "below",
        }
    else:
        name = "severity" if choice in _KINDS else "unusual"
        values = as_map(table, f"severity_{_KINDS[choice]}" if choice in _KINDS else name)
        look = {"bounds": (0.0, max(1.0, float(values.max()))), "title": name}
    show_head_map(
        trace, values, name, colours, key="anomalies_map", on_open=show_what_moves, **look
    )


def _show_table(table: pd.DataFrame) -> None:
    numbers = {
        name: st.column_config.NumberColumn(name.replace("_", " "), format="%.3f")
        for name in table.columns
        if table[name].dtype.kind == "f"
    }
    words = {
        name: st.column_config.TextColumn(name.replace("_", " "))
        for name in ("sink_token", "flags", "reasons", "stands_out")
    }
    st.dataframe(table, hide_index=True, column_config=numbers | words, height=420)
    note = values_note(exact=table.attrs["values"] == "|f(v)|")
    show_definition(
        "a row per head; first and sink are the first token and the column with the most attention;"
        " uniform is the uniform baseline; z is robust, over all heads.",
        "see the mathematics.",
        f"see each flag under “Look for”. {note}",
    )


def _offer_files(trace: Trace, key: TraceKey, table: pd.DataFrame) -> None:
    measured = table.attrs["where"]
    held = contents(
        "anomalies", trace.model, "", text=measured == f"this {key.modality}", on=measured
    )
    write = csv_later(table.copy, held, index=False, float_format="%.6g")
    offer_file("Table (CSV)", write, held, ".csv")
    offer_file(
        "Report (HTML)",
        lambda: make_report(trace, key, table, held.facts),
        held,
        ".html",
        help="One page that opens without internet: flagged heads with reasons, maps, all measures,"
        " definitions.",
    )
