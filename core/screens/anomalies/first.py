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
    threshold,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.head_maps import show_gaps, show_heads
from core.ui.words.messages import quote

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


FLAG = FLAGS["first-token sink"]
COUNTED = {"attention": "attention to it", "moved": "its share of what heads move"}


def show_first(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """A dot per head, the mean of each layer, and the uniform baseline."""
    with row:
        counted = controls.choice(
            "counted", COUNTED, "Of the first token", subject="What can be shown is"
        )
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
    baseline = "the mean of 1/(i + 1), as token i sees i + 1 tokens" if trace.causal else "1/n"
    if trace.source is not None:
        baseline += ", n being the tokens of your text"
    dotted = " The red dotted line is the threshold." if attention else ""
    st.caption(
        "Each dot is a head; dots of a layer are in the order of its heads. The uniform baseline is"
        f" {baseline}.{dotted} Click a dot to see what that head moves."
    )
    if attention:
        limit = threshold(FLAG.name, trace)
        show_definition(FLAG.definition, f"{FLAG.source}.", f"flagged {limit}.")
    else:
        note = values_note(exact=table.attrs["values"] == "|f(v)|")
        show_definition(
            "the first token's share of the lengths of everything the head moves.",
            f"Kobayashi et al. 2020. {note}",
            "none; compare it with the attention.",
        )


def _verdict(trace: Trace, table: pd.DataFrame) -> str:
    where = table.attrs["where"]
    # Texts of a corpus begin with different tokens, unless the tokenizer adds one to all.
    first = trace.key_tokens[0]
    same_token = where in {"this text", "this image"} or first.special
    token = f", {quote(first.display)}" if same_token else ""
    which = trace.input.first
    odd, strongest = with_flag(table, FLAG.name), max_row(table, "first_attention")
    attention = (
        f"{row_name(strongest)} gives it {strongest['first_attention']:.2f} (uniform baseline"
        f" {strongest['first_uniform']:.2f})"
    )
    if table.attrs["too_short"]:
        return f"{too_short_note(table, trace)} The maximum: {attention}."
    if odd.empty:
        return f"**No head of this model rests on {which}**{token}, on {where}. {attention}."
    layers = as_map(table, "first_attention").mean(axis=1)
    high, low = layers.argmax(), layers.argmin()
    highest, lowest = trace.layer_labels[high], trace.layer_labels[low]
    verb = "rests" if len(odd) == 1 else "rest"
    return (
        f"**{len(odd)} of {len(table)} heads {verb} on {which}**{token}: {attention}. The"
        f" layer mean is highest in layer {highest} ({layers[high]:.2f}) and lowest in layer"
        f" {lowest} ({layers[low]:.2f})."
    )
