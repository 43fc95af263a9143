"""Attention to the first token, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import as_map, having, with_most
from core.analysis.anomalies.flags import rule
from core.figures.anomalies import first_by_layer
from core.screens.anomalies.open_head import show_what_moves
from core.screens.anomalies.wording import (
    DEFINITIONS,
    head_name,
    show_definition,
    threshold,
    too_short_note,
    values_note,
)
from core.ui import controls
from core.ui.head_maps import show_heads
from core.ui.messages import quote

if TYPE_CHECKING:
    import pandas as pd

    from core.figures.palette import Palette
    from core.model import Trace

FLAG = "first-token sink"
COUNTED = {"attention": "attention to it", "moved": "its share of what is moved"}


def show_first(trace: Trace, table: pd.DataFrame, colours: Palette) -> None:
    """A dot a head, the mean of each layer, and what an even head would give."""
    counted = controls.choice(
        "counted", COUNTED, "Of the first token", subject="What can be shown is"
    )
    st.markdown(_verdict(trace, table))
    attention = counted == "attention"
    figure = first_by_layer(
        as_map(table, "first_attention" if attention else "first_contribution"),
        as_map(table, "first_uniform").mean(axis=1),
        rule(FLAG).threshold if attention else None,
        "attention to the first token" if attention else "share of what is moved",
        colours,
    )
    show_heads(figure, key="anomalies_first", on_open=show_what_moves)
    even = "the mean of 1/(i + 1), as token i sees i + 1 tokens" if trace.causal else "1/n"
    dotted = " The red dotted line is the threshold." if attention else ""
    st.caption(
        f"A dot is a head, in the order of heads within its layer. An even head gives {even}."
        f"{dotted} Click a dot to see what that head moves."
    )
    if attention:
        show_definition(DEFINITIONS[FLAG], f"{rule(FLAG).source}.", f"flagged {threshold(FLAG)}.")
    else:
        exact = table.attrs["values"] == "|f(v)|"
        show_definition(
            "the first token's share of the lengths of all that the head moves.",
            f"Kobayashi et al. 2020. {values_note(exact)}",
            "none; compare with its attention.",
        )


def _verdict(trace: Trace, table: pd.DataFrame) -> str:
    where = table.attrs["where"]
    # Texts of a corpus begin with different tokens, unless the tokenizer puts one before all.
    named = where == "this text" or trace.tokens[0].special
    token = f", {quote(trace.tokens[0].display)}" if named else ""
    odd, most = having(table, FLAG), with_most(table, "first_attention")
    told = (
        f"{head_name(most)} gives it {most['first_attention']:.2f}, an even head"
        f" {most['first_uniform']:.2f}"
    )
    if table.attrs["too_short"]:
        return f"{too_short_note(table)} Most of all {told}."
    if odd.empty:
        return f"**No head of this model rests on the first token**{token}, on {where}. {told}."
    layers = as_map(table, "first_attention").mean(axis=1)
    heads = "head rests" if len(odd) == 1 else "heads rest"
    return (
        f"**{len(odd)} of {len(table)} {heads} on the first token**{token}: {told}. By layer the"
        f" mean is highest in layer {layers.argmax() + 1} ({layers.max():.2f}) and lowest in layer"
        f" {layers.argmin() + 1} ({layers.min():.2f})."
    )
