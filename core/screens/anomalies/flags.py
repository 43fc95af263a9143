"""The flagged heads: a map, the list by severity, the whole table, and what can be saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import as_map, flagged, having, rows_of
from core.analysis.anomalies.flags import KINDS, RULES, rule
from core.analysis.csv_text import to_csv
from core.screens.anomalies.open_head import open_buttons, show_what_moves
from core.screens.anomalies.report import make_report
from core.screens.anomalies.wording import (
    FLAGS,
    KIND_NOTES,
    MEASURES,
    SEVERITY,
    head_name,
    show_definition,
    show_flag_definition,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row
    from core.analysis.anomalies.flags import Kind
    from core.figures.palette import Palette
    from core.model import Trace
    from core.ui.cache import TextKey

ANY = "any flag"
# A kind of several flags can be looked for as one.
_OF_KIND: dict[str, Kind] = {
    "any flag of attention and values": "attention",
    "any flag of queries and keys": "space",
}
CHOICES = [ANY, *_OF_KIND, *FLAGS]
_LISTED = 6  # heads listed at first
_BOUNDS = {"separability": (0.5, 1.0), "weight_similarity": (-1.0, 1.0)}


def show_flags(trace: Trace, key: TextKey, table: pd.DataFrame, colours: Palette) -> None:
    """Map and list of one flag or all; then the table and the files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        flag = controls.choice(
            "flag", CHOICES, "Look for", subject="The flags are", menu=True, width=280
        )
        _show_files(trace, key, table)
    odd = flagged(table)
    if table.attrs["too_short"]:
        st.info(too_short_note(table))
    here = _having(odd, flag)
    st.markdown(_summary(table, odd, here, flag))
    left, right = st.columns([4, 5], gap="medium")
    with left:
        _show_map(table, flag, colours)
        if flag not in FLAGS:
            st.caption(f"Severity: {SEVERITY}. Click a square to see what that head moves.")
    with right:
        if flag in FLAGS:
            show_flag_definition(flag)
        _show_list(here)
    with st.expander("Every measure of every head"):
        _show_table(table)


def _having(odd: pd.DataFrame, flag: str) -> pd.DataFrame:
    """The flagged heads with what is looked for, the most severe of it first."""
    if flag == ANY:
        return odd
    if flag in _OF_KIND:
        severity = f"severity_{_OF_KIND[flag]}"
        return odd[odd[severity] > 0].sort_values(severity, ascending=False, kind="stable")
    return having(odd, flag)


def _summary(table: pd.DataFrame, odd: pd.DataFrame, here: pd.DataFrame, flag: str) -> str:
    where = table.attrs["where"]
    if flag in FLAGS:
        return _summary_of_flag(table, here, flag)
    if table.attrs["too_short"]:
        counted = f"**{KINDS['weights']}** ({KIND_NOTES['weights']}): {_counts(odd, 'weights')}."
        return counted if flag == ANY else ""
    kinds = KINDS if flag == ANY else {_OF_KIND[flag]: KINDS[_OF_KIND[flag]]}
    lines = [
        f"**{name}** ({KIND_NOTES[kind]}): {_counts(odd, kind)}." for kind, name in kinds.items()
    ]
    what = "a flag" if flag == ANY else f"a flag of {KINDS[_OF_KIND[flag]].lower()}"
    count = (
        f"**{len(here)} of {len(table)} heads** have"
        if len(here)
        else "**No head of this model has**"
    )
    return "  \n".join([f"{count} {what} on {where}.", *lines])


def _counts(odd: pd.DataFrame, kind: Kind) -> str:
    """How many heads have each flag of a kind, and which flags none has."""
    flags = [each.flag for each in RULES if each.kind == kind]
    counts = {flag: len(having(odd, flag)) for flag in flags}
    by_count = sorted((flag for flag in flags if counts[flag]), key=lambda flag: -counts[flag])
    seen = ", ".join(f"{flag} {counts[flag]}" for flag in by_count)
    missing = [flag for flag in flags if not counts[flag]]
    if not missing:
        return seen
    return f"{seen}; none has {_or(missing)}" if seen else f"none has {_or(missing)}"


def _summary_of_flag(table: pd.DataFrame, here: pd.DataFrame, flag: str) -> str:
    measure, where = rule(flag).measure, table.attrs["where"]
    known = table[measure].dropna()
    if known.empty:
        return f"**{flag.capitalize()}** cannot be told for this model on {where}."
    low, high = (f"{value:.2f}".replace("-", "−") for value in (known.min(), known.max()))
    span = f"{MEASURES[measure]} lies between {low} and {high}"
    if table.attrs["too_short"] and rule(flag).kind != "weights":
        return f"**{flag.capitalize()}: too short to say.** {span[0].upper()}{span[1:]}."
    if here.empty:
        return f"**No head of this model has {flag} on {where}**: {span}."
    return f"**{len(here)} of {len(table)} heads** have {flag} on {where}."


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _show_map(table: pd.DataFrame, flag: str, colours: Palette) -> None:
    """Severity, or the measure of one flag; a clicked head is shown with what it moves."""
    name, look = "severity", dict[str, Any](title="severity")
    if flag not in FLAGS:
        kind = f"_{_OF_KIND[flag]}" if flag in _OF_KIND else ""
        values = as_map(table, f"severity{kind}")
        look["bounds"] = 0.0, max(1.0, float(values.max()))
    else:
        each = rule(flag)
        values, name = as_map(table, each.measure), MEASURES[each.measure]
        look = {
            "bounds": _bounds(table, flag),
            "title": "log2" if each.measure == "norm_log_ratio" else "",
            "signed": each.side == "both",
            "reverse": each.side == "below",
        }
    show_head_map(values, name, colours, key="anomalies_map", on_open=show_what_moves, **look)


def _bounds(table: pd.DataFrame, flag: str) -> tuple[float, float]:
    """Where the colours of a flag's measure begin and end."""
    each = rule(flag)
    if each.measure == "norm_log_ratio":
        reach = max(each.threshold, float(np.nanmax(table[each.measure].abs(), initial=0)))
        return -reach, reach
    return _BOUNDS.get(each.measure, (0.0, 1.0))


def _show_list(here: pd.DataFrame) -> None:
    if here.empty:
        return
    shown = here if controls.flag("every", optional=True) else here.head(_LISTED)
    for one in rows_of(shown):
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"**{head_name(one)}** · severity {one['severity']:.1f}", width="stretch"
                )
                open_buttons(one["layer"], one["head"])
            st.caption(_reasons(one))
    if len(here) > _LISTED:
        controls.flag(
            "every",
            f"List all {len(here)} heads",
            optional=True,
            help=f"Off: the {_LISTED} most severe.",
        )


def _reasons(one: Row) -> str:
    """Each flag with what it is raised for (Markdown)."""
    both = zip(one["flags"].split(", "), one["reasons"].split("; "), strict=True)
    return "  \n".join(f"**{flag.capitalize()}:** {why}." for flag, why in both)


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
    show_definition(
        "a row a head; first and sink are the first token and the column with the most attention;"
        " uniform is what an even head gives; z is robust, over all heads.",
        "see the mathematics.",
        f"rules of each flag under “Look for”. {values_note(table.attrs['values'] == '|f(v)|')}",
    )


def _show_files(trace: Trace, key: TextKey, table: pd.DataFrame) -> None:
    st.download_button(
        "Table (CSV)",
        lambda: to_csv(table, index=False, float_format="%.6g"),
        file_name="anomalies.csv",
        mime="text/csv",
        on_click="ignore",
    )
    st.download_button(
        "Report (HTML)",
        lambda: make_report(trace, key, table),
        file_name="anomalies.html",
        mime="text/html",
        on_click="ignore",
        help="One page that opens without internet: flagged heads with reasons, maps, all measures,"
        " definitions.",
    )
