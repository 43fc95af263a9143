"""Massive activations: how long each token's hidden state is, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies.massive import HiddenStates, hidden_states
from core.figures.layers import states_figure
from core.figures.palette import Palette
from core.model import Trace
from core.screens.anomalies.wording import show_definition
from core.ui.charts import show_chart
from core.ui.head_maps import gaps_note
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
_NAMED = 5  # tokens named in a sentence


def show_states(trace: Trace, _table: pd.DataFrame, colours: Palette, _row: DeltaGenerator) -> None:
    """The map of lengths and what it shows."""
    if trace.source is not None:
        st.info(_words("states_of_cross"))
        return
    states = hidden_states(trace)
    if states is None:
        st.info(_words("no_states"))
        return
    labels = labels_of(trace.tokens)
    rows = [f"after {layer}" if layer else "input" for layer in _layers_before(trace)]
    figure = states_figure(states.norms, states.largest, rows, labels, colours)
    show_chart(
        figure,
        key="anomalies_states",
        alt="length by layer and token",
        quiet=True,
    )
    st.markdown(_verdict(trace, states))
    st.caption(f"{_words('states')} {gaps_note(trace)}")
    show_definition(_words("massive_activation"))


def _verdict(trace: Trace, states: HiddenStates) -> str:
    ratios = states.largest / np.maximum(states.typical, np.finfo(float).tiny)[:, None]
    row, token = (int(index) for index in np.unravel_index(ratios.argmax(), ratios.shape))
    massive = np.flatnonzero(states.massive.any(axis=0)).tolist()
    return _words(
        "massive_in",
        names=", ".join(quote(trace.tokens[each].display) for each in massive[:_NAMED]),
        this=trace.input.this,
        largest=states.largest[row, token],
        token=quote(trace.tokens[token].display),
        layer=_layers_before(trace)[row],
        ratio=ratios[row, token],
    )


def _layers_before(trace: Trace) -> list[int]:
    """The number of the layer whose output each state is; 0 for the embeddings."""
    last = max(trace.depth or 0, trace.layer_labels[-1])
    return [*(number - 1 for number in trace.layer_labels), last]
