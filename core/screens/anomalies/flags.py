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
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
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
            "flag", CHOICES, "Look for", subject="The flags are", menu=True, width=200
        )
    if trace.source is not None:
        st.caption(_words("of_your_text"))
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
            kind = FLAGS[choice].kind
            show_flag_definition(choice, trace)
            st.caption(f"**{KINDS[kind]}:** {_words('kind', kind=kind)}.")
        if len(odd):
            show_list(table, odd, every_flag=choice == ANY)
    with st.container(horizontal=True):
        _offer_files(trace, current_key(trace.model), table)
    with st.expander("Every measure of every head"):
        _show_table(table)


def _explain_map(choice: str) -> None:
    unusual = choice == ANY
    st.caption(
        _words("squares", unusual=unusual), help=_words("unusual" if unusual else "severity")
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
    short = table.attrs["too_short"]
    if choice == ANY and not short:
        return stand_out_sentence(table)
    if short and choice != ANY:  # only weights are counted of a short text
        return ""
    kind: Kind = _KINDS.get(choice, "weights")
    counts = f"**{KINDS[kind]}** ({_words('kind', kind=kind)}): {_counts(table, kind)}."
    if short:
        return counts
    flag = f"a flag of {KINDS[kind].lower()}"
    return f"{_heads_with(table, _flagged(table, choice), flag)}  \n{counts}"


def _heads_with(table: pd.DataFrame, odd: pd.DataFrame, flag: str) -> str:
    """How many heads have it (Markdown)."""
    where = table.attrs["where"]
    return _words("heads_with", count=len(odd), total=len(table), flag=flag, where=where)


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
    *others, last = [name for name in counts if not counts[name]] or [""]
    return _words(
        "counts",
        found=", ".join(f"{name} {counts[name]}" for name in by_count),
        others=", ".join(others),
        last=last,
    )


def _flag_summary(table: pd.DataFrame, odd: pd.DataFrame, name: str) -> str:
    flag, where = FLAGS[name], table.attrs["where"]
    values = table[flag.measure].dropna()
    short = table.attrs["too_short"] and flag.kind != "weights"
    if len(odd) and not short:
        return _heads_with(table, odd, name)
    low, high = (number(value, missing="") for value in (values.min(), values.max()))
    return _words(
        "no_head", flag=name, where=where, title=flag.title, low=low, high=high, short=short
    )


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
    show_definition(_words("every_measure", values=values_note(table)))


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
        help=_words("report"),
    )
