"""The unusual heads: the answer, a map, a card for each, the whole table, and a file to save."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, as_map, flagged, with_flag
from core.analysis.anomalies.flags import KINDS, RANDOM_SHARE
from core.analysis.statistics import OUTLIER
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.cards import show_cards
from core.screens.anomalies.open_head import show_what_moves
from core.screens.anomalies.wording import (
    row_name,
    show_definition,
    show_flag_definition,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.current import current_key
from core.ui.downloads import contents, offer_csv
from core.ui.head_maps import show_head_map
from core.ui.navigation import ask
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
ANY = "any flag"


def show_flags(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """The answer, a map of one measure or of all, a card per head; then the table and its file."""
    counts = {name: f"{name} ({len(with_flag(table, name))})" for name in FLAGS}
    with row:
        choice = controls.choice(
            "flag",
            {ANY: "all measures", **counts},
            "Look for",
            subject="The flags are",
            menu=True,
            width=200,
        )
    flag = None if choice == ANY else choice
    odd = flagged(table) if flag is None else with_flag(flagged(table), flag)
    ask(_of_all(table) if flag is None else _of_flag(table, odd, flag))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _show_map(trace, table, flag, colours)
        if flag is None:
            st.caption(_words("squares"), help=_words("unusual"))
        else:
            kind = FLAGS[flag].kind
            st.caption(f"**{KINDS[kind]}:** {_words('kind', kind=kind)}.")
            show_flag_definition(flag, trace)
        if trace.source is not None:
            st.caption(_words("of_your_text"))
        if table.attrs["too_short"] and (flag is None or FLAGS[flag].kind != "weights"):
            st.info(too_short_note(table, trace))
    with right:
        show_cards(trace, odd, flag)
    with st.container(horizontal=True):
        _offer_csv(trace, table)
    with st.expander("Every measure of every head"):
        _show_table(table)


def _of_all(table: pd.DataFrame) -> str:
    """Which heads are unusual, and by what the first of them is (Markdown)."""
    unusual = flagged(table).query("unusual_by != ''").to_dict("records")
    by = [name for row in unusual for name in row["unusual_by"].split(", ")]  # the first's first
    return _words(
        "headline",
        count=len(unusual),
        total=len(table),
        random=math.ceil(RANDOM_SHARE * len(table)),
        first=row_name(unusual[0]) if unusual else "",
        by=by[0] if by else "",
        of_model={FLAGS[name].kind for name in by} <= {"weights"},
        where=table.attrs["where"],
        short=table.attrs["too_short"],
    )


def _of_flag(table: pd.DataFrame, odd: pd.DataFrame, name: str) -> str:
    """How many heads have a flag, and between what numbers all are (Markdown)."""
    flag = FLAGS[name]
    values = table[flag.measure].dropna()
    low, high = (number(value, missing="") for value in (values.min(), values.max()))
    return _words(
        "of_flag",
        count=len(odd),
        total=len(table),
        flag=flag,
        where=table.attrs["where"],
        short=flag.kind != "weights" and table.attrs["too_short"],
        low=low,
        high=high,
    )


def _show_map(trace: Trace, table: pd.DataFrame, name: str | None, colours: Palette) -> None:
    """How far heads are from the others, or one measure; a clicked head shows what it moves."""
    flag = None if name is None else FLAGS[name]
    values = as_map(table, flag.measure if flag else "unusual")
    reach = float(
        np.nanmax(np.abs(values), initial=OUTLIER if flag is None else flag.limits.threshold)
    )
    look: dict[str, Any] = {"bounds": (0.0, reach), "title": "robust z"}
    if flag is not None:
        bounds = flag.bounds or (-reach, reach)
        signed = bounds[0] < 0
        reverse = flag.limits.side == "below" and not signed
        look = {"bounds": bounds, "title": flag.unit, "signed": signed, "reverse": reverse}
    show_head_map(
        trace,
        values,
        flag.title if flag else "robust z",
        colours,
        key="anomalies_map",
        on_open=show_what_moves,
        large=True,
        **look,
    )


def _show_table(table: pd.DataFrame) -> None:
    numbers = {
        name: st.column_config.NumberColumn(name.replace("_", " "), format="%.3f")
        for name in table.columns
        if table[name].dtype.kind == "f"
    }
    words = {
        name: st.column_config.TextColumn(name.replace("_", " "))
        for name in ("sink_token", "flags", "reasons", "unusual_by")
    }
    st.dataframe(table, hide_index=True, column_config=numbers | words, height=420)
    show_definition(_words("every_measure", values=values_note(table)))


def _offer_csv(trace: Trace, table: pd.DataFrame) -> None:
    measured = table.attrs["where"]
    modality = current_key(trace.model).modality
    held = contents("anomalies", trace.model, "", text=measured == f"this {modality}", on=measured)
    offer_csv(table.copy, held, index=False, float_format="%.6g")
