"""Massive activations: how long each token's hidden state is, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies.massive import (
    LEAST_ACTIVATION,
    LEAST_TIMES_MEDIAN,
    LONG_STATE,
    HiddenStates,
    hidden_states,
)
from core.analysis.attention_table import unique_labels
from core.figures.anomalies import states_figure
from core.screens.anomalies.wording import show_definition
from core.ui import controls
from core.ui.messages import quote

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.model import Trace

SIZES = {"norm": "length", "relative": "times the layer's median"}


def show_states(trace: Trace, colours: Palette) -> None:
    """The map of lengths and what it shows."""
    found = hidden_states(trace)
    if found is None:
        st.info("This model does not tell its hidden states: there is nothing to measure.")
        return
    size = controls.choice("size", SIZES, "Size of the hidden state", subject="The sizes are")
    st.markdown(_verdict(trace, found))
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    values = found.norms if size == "norm" else found.relative
    figure = states_figure(
        values, found.largest, labels, "length" if size == "norm" else "× median", colours
    )
    st.plotly_chart(figure, key="anomalies_states", config={"displayModeBar": False})
    st.caption(
        "A row is a layer's output, the first row what the first layer gets; a column is a token."
        " Colours are logarithmic. The last row is after the model's final normalisation, where it"
        " has one, and so often looks tame."
    )
    show_definition(
        "length of the hidden state of each token after each layer; a massive activation is one"
        " number of it that dwarfs all others.",
        "Sun et al. 2024, section 2.",
        f"massive beyond {LEAST_ACTIVATION:g} and {LEAST_TIMES_MEDIAN:,.0f} times the layer's"
        f" median magnitude (theirs); a state is called long from {LONG_STATE:g} times the length"
        " of the layer's median token (ours).",
    )


def _verdict(trace: Trace, found: HiddenStates) -> str:
    ratios = found.largest / np.maximum(found.typical, np.finfo(float).tiny)[:, None]
    layer, token = (int(i) for i in np.unravel_index(int(ratios.argmax()), ratios.shape))
    number = (
        f"the largest beside its layer is {found.largest[layer, token]:.3g}, in"
        f" {quote(trace.tokens[token].display)} {_place(layer)}: {ratios[layer, token]:,.0f} times"
        " the median magnitude"
    )
    massive, long = int(found.massive.sum()), _long(trace, found)
    if not massive:
        return f"**This model shows no massive activation on this text**: {number}. {long}"
    tokens = sorted({int(each) for each in np.argwhere(found.massive)[:, 1]})
    names = ", ".join(quote(trace.tokens[each].display) for each in tokens[:5])
    more = f" and {len(tokens) - 5} more tokens" if len(tokens) > 5 else ""
    return f"**Massive activations in {names}{more}** ({massive} states): {number}. {long}"


def _long(trace: Trace, found: HiddenStates) -> str:
    sizes = np.nan_to_num(found.relative)
    layer, token = (int(i) for i in np.unravel_index(int(sizes.argmax()), sizes.shape))
    where = f"{quote(trace.tokens[token].display)} {_place(layer)}"
    times = f"{sizes[layer, token]:.1f} times the layer's median token"
    count = int(found.long.sum())
    if not count:
        return f"No state is much longer than the others: at most {times}, {where}."
    states = "state is" if count == 1 else "states are"
    return f"{count} {states} much longer than the others, {where} the most: {times}."


def _place(layer: int) -> str:
    return f"after layer {layer}" if layer else "before the first layer"
