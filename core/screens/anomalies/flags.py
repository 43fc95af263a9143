"""The flagged heads: a map, the list by severity, the whole table, and files to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, as_map, flagged, with_flag
from core.analysis.anomalies.flags import KINDS
from core.analysis.csv_text import to_csv
from core.screens.anomalies.open_head import open_buttons, show_what_moves
from core.screens.anomalies.report import make_report
from core.screens.anomalies.wording import (
    KIND_NOTES,
    SEVERITY,
    row_name,
    show_definition,
    show_flag_definition,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.downloads import offer_file
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row
    from core.analysis.anomalies.flags import Kind
    from core.figures.palette import Palette
    from core.model import Trace
    from core.ui.cache import TextKey

ANY = "any flag"
# A kind with several flags can be looked for as one.
_KINDS: dict[str, Kind] = {
    "any flag of attention and values": "attention",
    "any flag of queries and keys": "space",
}
CHOICES = [ANY, *_KINDS, *FLAGS]
_LISTED = 6  # heads listed at first


def show_flags(trace: Trace, key: TextKey, table: pd.DataFrame, colours: Palette) -> None:
    """Map and list of one flag, of a kind or of all; then the table and the files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = controls.choice(
            "flag", CHOICES, "Look for", subject="The flags are", menu=True, width=280
        )
        _offer_files(trace, key, table)
    if trace.source is not None:
        st.caption("The first token, sinks and values below are those of your text.")
    if table.attrs["too_short"]:
        st.info(too_short_note(table, cross=trace.source is not None))
    odd = _flagged(table, choice)
    st.markdown(_flag_summary(table, odd, choice) if choice in FLAGS else _summary(table, choice))
    left, right = st.columns([4, 5], gap="medium")
    with left:
        _show_map(trace, table, choice, colours)
        if choice not in FLAGS:
            st.caption(f"Severity: {SEVERITY}. Click a square to see what that head moves.")
    with right:
        if choice in FLAGS:
            show_flag_definition(choice, cross=trace.source is not None)
        if len(odd):
            _show_list(odd)
    with st.expander("Every measure of every head"):
        _show_table(table)


def _flagged(table: pd.DataFrame, choice: str) -> pd.DataFrame:
    """The heads with what is looked for, the most severe first."""
    odd = flagged(table)
    if choice in FLAGS:
        return with_flag(odd, choice)
    if choice == ANY:
        return odd
    severity = f"severity_{_KINDS[choice]}"
    return odd[odd[severity] > 0].sort_values(severity, ascending=False, kind="stable")


def _summary(table: pd.DataFrame, choice: str) -> str:
    """How many heads have a flag, and the counts of each kind."""
    kinds: list[Kind] = list(KINDS) if choice == ANY else [_KINDS[choice]]
    if table.attrs["too_short"]:
        kinds = ["weights"] if choice == ANY else []
    lines = [f"**{KINDS[kind]}** ({KIND_NOTES[kind]}): {_counts(table, kind)}." for kind in kinds]
    if not table.attrs["too_short"]:
        count = len(_flagged(table, choice))
        verb = "has" if count == 1 else "have"
        heads = (
            f"**{count} of {len(table)} heads** {verb}"
            if count
            else "**No head of this model has**"
        )
        flag = "a flag" if choice == ANY else f"a flag of {KINDS[_KINDS[choice]].lower()}"
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
        name = "severity"
        values = as_map(table, f"severity_{_KINDS[choice]}" if choice in _KINDS else name)
        look = {"bounds": (0.0, max(1.0, float(values.max()))), "title": name}
    show_head_map(
        trace, values, name, colours, key="anomalies_map", on_open=show_what_moves, **look
    )


def _show_list(odd: pd.DataFrame) -> None:
    shown = odd if controls.flag("every", optional=True) else odd.head(_LISTED)
    for row in shown.to_dict("records"):
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                title = f"**{row_name(row)}** · severity {row['severity']:.1f}"
                st.markdown(title, width="stretch")
                open_buttons(row["layer"], row["head"])
            st.caption(_reasons(row))
    if len(odd) > _LISTED:
        controls.flag(
            "every",
            f"List all {len(odd)} heads",
            optional=True,
            help=f"Off: the {_LISTED} most severe.",
        )


def _reasons(row: Row) -> str:
    """Each flag with what it is raised for (Markdown)."""
    pairs = zip(row["flags"].split(", "), row["reasons"].split("; "), strict=True)
    return "  \n".join(f"**{flag.capitalize()}:** {reason}." for flag, reason in pairs)


def _show_table(table: pd.DataFrame) -> None:
    numbers = {
        name: st.column_config.NumberColumn(name.replace("_", " "), format="%.3f")
        for name in table.columns
        if table[name].dtype.kind == "f"
    }
    words = {
        name: st.column_config.TextColumn(name.replace("_", " "))
        for name in ("sink_token", "flags", "reasons")
    }
    st.dataframe(table, hide_index=True, column_config=numbers | words, height=420)
    note = values_note(exact=table.attrs["values"] == "|f(v)|")
    show_definition(
        "a row per head; first and sink are the first token and the column with the most attention;"
        " uniform is the uniform baseline; z is robust, over all heads.",
        "see the mathematics.",
        f"see each flag under “Look for”. {note}",
    )


def _offer_files(trace: Trace, key: TextKey, table: pd.DataFrame) -> None:
    offer_file(
        "Table (CSV)",
        lambda: to_csv(table, index=False, float_format="%.6g"),
        "anomalies.csv",
    )
    offer_file(
        "Report (HTML)",
        lambda: make_report(trace, key, table),
        "anomalies.html",
        help="One page that opens without internet: flagged heads with reasons, maps, all measures,"
        " definitions.",
    )
