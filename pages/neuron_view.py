"""One head down to its dimensions: q, k, their products, scores, softmax."""

import streamlit as st

from core.ui.navigation import open_page

open_page("neuron_view")

from functools import partial

from core.analysis.attention_table import unique_labels
from core.analysis.neuron import read_head
from core.components.neuron_view import neuron_page, show_neuron_view
from core.ui import address
from core.ui.current import current_trace
from core.screens.neuron_view.help import explain, show_mathematics, show_presets
from core.screens.neuron_view.state import (
    current_state,
    parameters,
    pick_tokens,
    restore_state,
    take_state,
)
from core.ui.selectors import pick_head, pick_layer, step_through_heads

trace = current_trace()
labels = unique_labels(tuple(token.display for token in trace.tokens))
segments = [token.segment for token in trace.tokens]
restore_state(trace)

with st.container(horizontal=True, vertical_alignment="bottom"):
    with st.container(width=130):
        layer = pick_layer(trace)
    with st.container(width=130):
        head = pick_head(trace)
    step_through_heads(trace)
    pick_tokens(trace, labels)
address.publish(*parameters(trace))

one = read_head(trace, layer, head)
state = current_state()
show_neuron_view(one, labels, segments, state, key="neuron_view", on_change=take_state)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(explain(one, state), width="stretch")
    st.download_button(
        "Save as HTML",
        partial(
            neuron_page,
            one,
            labels,
            segments,
            state,
            f"L{layer + 1} H{head + 1}: queries, keys and their products · {trace.model}",
            " ".join(token.display for token in trace.tokens),
        ),
        file_name=f"neuron_view_L{layer + 1}_H{head + 1}.html",
        mime="text/html",
        on_click="ignore",
    )
show_presets(trace)
show_mathematics(one)
