"""Massive activations: how long each token's hidden state is, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.anomalies.massive import (
    LONG_STATE,
    MIN_ACTIVATION,
    MIN_TIMES_MEDIAN,
    HiddenStates,
    hidden_states,
)
from core.figures.anomalies import states_figure
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.wording import show_definition
from core.ui import controls, python
from core.ui.charts import show_chart
from core.ui.head_maps import gaps_note
from core.ui.words.messages import quote
from core.vocabulary import labels_of, without_attention

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


SIZES = {"norm": "length", "relative": "times the layer's median"}


def show_states(trace: Trace, _table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """The map of lengths and what it shows."""
    if trace.source is not None:
        _lead_on()
        return
    states = python.shown("states", hidden_states, trace)
    if states is None:
        st.info(
            "This model does not return a hidden state for each layer: there is nothing to measure."
        )
        return
    with row:
        size = controls.choice("size", SIZES, "Size of the hidden state", subject="The sizes are")
    labels = labels_of(trace.tokens)
    values, title = (states.norms, "length") if size == "norm" else (states.relative, "× median")
    rows = [f"after {layer}" if layer else "input" for layer in _layers_before(trace)]
    figure = states_figure(values, states.largest, rows, labels, title, colours)
    show_chart(
        figure,
        key="anomalies_states",
        alt=f"{title} by layer and token",
        quiet=True,
    )
    st.markdown(_verdict(trace, states))
    rows_are = "a layer's output, the first what the first layer receives"
    last = "comes after the model's final normalisation, if it has one, and so often looks tame"
    if trace.input.kind == "image":  # vision models return their states so
        last = "is what the last layer returns, before the model's final normalisation"
    where = "after each layer"
    if silent := gaps_note(trace):
        rows_are = "what a layer that attends receives, the last what leaves the model"
        where = "that reaches a layer which attends, and at the end"
    st.caption(
        f"Each row is {rows_are}; each column is a token. Colours are logarithmic. The last row"
        f" {last}. {silent}"
    )
    show_definition(
        f"length of the hidden state of each token {where}; a massive activation is one number of"
        " it that dwarfs all others.",
        "Sun et al. 2024, section 2.",
        f"massive beyond {MIN_ACTIVATION:g} and {MIN_TIMES_MEDIAN:,.0f} times the layer's median"
        f" magnitude (theirs); a state is called long from {LONG_STATE:g} times the length of the"
        " layer's median token (ours).",
    )


def _lead_on() -> None:
    """Cross attention has no states of its own: whose they are."""
    st.info(
        "Cross attention has no hidden states of its own: queries are made from the decoder's, keys"
        " and values from what leaves the encoder."
    )
    with st.container(horizontal=True):
        for kind, label in (("decoder", "Show the decoder's"), ("encoder", "Show the encoder's")):
            st.button(label, key=f"states_of_{kind}", on_click=_show_kind, args=(kind,))


def _show_kind(kind: str) -> None:
    st.session_state["attention"] = kind


def _verdict(trace: Trace, states: HiddenStates) -> str:
    ratios = states.largest / np.maximum(states.typical, np.finfo(float).tiny)[:, None]
    place, where = _maximum(trace, ratios)
    number = (
        f"the largest number beside its layer's is {states.largest[place]:.3g}, in {where}:"
        f" {ratios[place]:,.0f} times the median magnitude"
    )
    long = _long(trace, states)
    massive = int(states.massive.sum())
    if not massive:
        entered = " enters the layers that attend" if without_attention(trace) else ""
        subject = "No massive activation" if entered else "This model shows no massive activation"
        return f"**{subject}{entered} on {trace.input.this}**: {number}. {long}"
    tokens = np.flatnonzero(states.massive.any(axis=0)).tolist()
    names = ", ".join(quote(trace.tokens[token].display) for token in tokens[:5])
    more = f" and {len(tokens) - 5} more tokens" if len(tokens) > 5 else ""
    return f"**Massive activations in {names}{more}** ({massive} states): {number}. {long}"


def _long(trace: Trace, states: HiddenStates) -> str:
    sizes = np.nan_to_num(states.relative)
    place, where = _maximum(trace, sizes)
    times = f"{sizes[place]:.1f} times the layer's median token"
    count = int(states.long.sum())
    if not count:
        return f"No state is much longer than the others: at most {times}, {where}."
    verb = "state is" if count == 1 else "states are"
    return f"{count} {verb} much longer than the others, the longest {where}: {times}."


def _maximum(trace: Trace, sizes: NDArray[np.float64]) -> tuple[tuple[int, int], str]:
    """Row and token of the largest size, and the same in words (Markdown)."""
    row, token = (int(index) for index in np.unravel_index(sizes.argmax(), sizes.shape))
    layer = _layers_before(trace)[row]
    after = f"after layer {layer}" if layer else "before the first layer"
    return (row, token), f"{quote(trace.tokens[token].display)} {after}"


def _layers_before(trace: Trace) -> list[int]:
    """The number of the layer whose output each state is; 0 for the embeddings."""
    last = max(trace.depth or 0, trace.layer_labels[-1])
    return [*(number - 1 for number in trace.layer_labels), last]
