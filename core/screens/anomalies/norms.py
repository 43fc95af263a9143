"""Norm disparity: how long queries and keys are, head by head and token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, as_map, max_row, with_flag
from core.analysis.anomalies.norms import vector_norms
from core.analysis.arrays import Floats
from core.figures.anomalies import norm_plane, norms_by_position
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.open_head import show_lengths
from core.screens.anomalies.wording import (
    longer_side,
    row_name,
    show_definition,
    threshold,
    too_short_note,
)
from core.ui import controls, python
from core.ui.charts import show_chart
from core.ui.frame.layout import more
from core.ui.head_maps import show_head_map, show_heads
from core.ui.place import pick_head
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
FLAG = FLAGS["norm disparity"]
QUANTITIES = {"ratio": "log2 ratio of medians", "difference": "difference of means"}


def show_norms(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """The map, |q| against |k| of all heads, and the lengths of one head by position."""
    with row:
        layer, head = pick_head(trace)
        with more():
            quantity = controls.choice("lengths", QUANTITIES, "Map of", subject="The map shows")
    odd = with_flag(table, FLAG.name)
    if table.attrs["too_short"]:
        st.info(too_short_note(table, trace))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_map(trace, table, quantity, colours)
    with right:
        figure = norm_plane(
            as_map(table, "query_norm"),
            as_map(table, "key_norm"),
            table.index.isin(odd.index).reshape(trace.shape[:2]),
            trace.layer_labels,
            colours,
        )
        show_heads(
            figure, "Lengths of queries and keys", key="anomalies_norm_plane", on_open=show_lengths
        )
    st.markdown(_verdict(table, odd))
    st.caption(_words("reading_lengths"))
    _show_positions(trace, layer, head, colours)
    limit = threshold(FLAG.name, trace)
    show_definition(_words("disparity", source=FLAG.source, limit=limit))


def _show_map(trace: Trace, table: pd.DataFrame, quantity: str, colours: Palette) -> None:
    ratio = quantity == "ratio"
    values = as_map(table, "norm_log_ratio" if ratio else "norm_difference")
    limit = FLAG.limits.threshold if ratio else 0.0
    reach = max(limit, float(np.nanmax(np.abs(values), initial=0))) or 1.0
    name = "log2 ratio" if ratio else "|q| − |k|"
    show_head_map(
        trace,
        values,
        name,
        colours,
        key="anomalies_norm_map",
        on_open=show_lengths,
        bounds=(-reach, reach),
        title=name,
        signed=True,
    )


def _show_positions(trace: Trace, layer: int, head: int, colours: Palette) -> None:
    lengths = python.shown("lengths", vector_norms, trace)  # of queries, of keys
    query: Floats = python.item("queries", lengths[0], (layer, head))
    key: Floats = python.item("keys", lengths[1], (layer, head))
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    name = head_name(trace, layer, head)
    if trace.source is None:
        st.header(f"{name} by position of {trace.input.read}", anchor=False)
        figure = norms_by_position(query, key, labels, colours)
        show_chart(
            figure,
            key="anomalies_positions",
            alt="Lengths by position",
            quiet=True,
        )
    else:
        st.header(_words("two_sides", head=name), anchor=False)
        top = 1.06 * float(max(query.max(), key.max())) or 1.0
        sides = (
            ("anomalies_queries", norms_by_position(query, None, labels, colours, top)),
            ("anomalies_keys", norms_by_position(None, key, columns, colours, top)),
        )
        for column, (side, figure) in zip(st.columns(2, gap="medium"), sides, strict=True):
            with column:
                show_chart(figure, key=side, alt="Lengths by position", quiet=True)
    st.caption(_words("marks", query=np.median(query), key=np.median(key)))


def _verdict(table: pd.DataFrame, odd: pd.DataFrame) -> str:
    if table["norm_log_ratio"].isna().all():
        return _words("no_lengths")
    row = max_row(table, "norm_log_ratio")
    return _words(
        "lengths",
        count=len(odd),
        total=len(table),
        too_short=table.attrs["too_short"],
        where=table.attrs["where"],
        head=row_name(row),
        longer_side=longer_side(row),
        mean=table["norm_difference"].mean(),
    )
