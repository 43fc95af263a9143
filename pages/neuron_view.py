"""One head down to its dimensions: q, k, their products, scores, softmax."""

import streamlit as st

from core.ui.navigation import open_page

open_page("neuron_view")

from functools import partial

from core.analysis.attention_table import unique_labels
from core.analysis.neuron import read_head
from core.components.neuron_view import neuron_page, show_neuron_view
from core.ui import controls
from core.ui.current import current_trace
from core.screens.neuron_view.help import explain, show_mathematics, show_presets
from core.screens.neuron_view.state import pick_tokens, restore_pairs, take_state
from core.ui.selectors import step_through_heads

trace = current_trace()
labels = unique_labels(tuple(token.display for token in trace.tokens))
segments = [token.segment for token in trace.tokens]
restore_pairs(trace)

with st.container(horizontal=True, vertical_alignment="bottom"):
    layer, head = controls.layer(trace, width=130), controls.head(trace, width=130)
    step_through_heads(trace)
    state = pick_tokens(trace, labels)

one = read_head(trace, layer, head)
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
