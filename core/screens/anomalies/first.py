"""Attention to the first token, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, as_map, max_row, with_flag
from core.analysis.layers import rows_of
from core.figures.anomalies import first_by_layer
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.open_head import show_what_moves
from core.screens.anomalies.wording import (
    row_name,
    show_definition,
    show_flag_definition,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.head_maps import show_gaps, show_heads
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
FLAG = FLAGS["first-token sink"]
COUNTED = {"attention": "attention to it", "moved": "its share of what heads move"}


def show_first(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """A dot per head, the mean of each layer, and the uniform baseline."""
    with row:
        counted = controls.choice("counted", COUNTED, "Of the first token", subject="The maps are")
    attention = counted == "attention"
    figure = first_by_layer(
        as_map(table, "first_attention" if attention else "first_contribution"),
        as_map(table, "first_uniform").mean(axis=1),
        rows_of(trace),
        FLAG.limits.threshold if attention else None,
        "attention to the first token" if attention else "share of what moves",
        colours,
    )
    show_heads(
        figure,
        "What the first token gets, by layer",
        key="anomalies_first",
        on_open=show_what_moves,
    )
    st.markdown(_verdict(trace, table))
    show_gaps(trace)
    cross = trace.source is not None
    st.caption(_words("dots", causal=trace.causal, cross=cross, threshold=attention))
    if attention:
        show_flag_definition(FLAG.name, trace)
    else:
        show_definition(_words("share_of_first", values=values_note(table)))


def _verdict(trace: Trace, table: pd.DataFrame) -> str:
    """How many heads rest on the first token, and in which layers (Markdown)."""
    where = table.attrs["where"]
    # Texts of a corpus begin with different tokens, unless the tokenizer adds one to all.
    first = trace.key_tokens[0]
    same_token = where in {"this text", "this image"} or first.special
    strongest = max_row(table, "first_attention")
    layers = as_map(table, "first_attention").mean(axis=1)
    high, low = layers.argmax(), layers.argmin()
    return _words(
        "resting",
        too_short=too_short_note(table, trace) if table.attrs["too_short"] else "",
        heads=len(with_flag(table, FLAG.name)),
        total=len(table),
        first=trace.input.first,
        token=quote(first.display) if same_token else "",
        where=where,
        head=row_name(strongest),
        row=strongest,
        highest=trace.layer_labels[high],
        lowest=trace.layer_labels[low],
        means=(layers[high], layers[low]),
    )
