"""How much of one token lies along another, layer by layer."""

import streamlit as st

from core.ui.navigation import open_page

open_page("projection")

from core.analysis.attention_table import unique_labels
from core.analysis.pair_projection import default_pair, project_pair
from core.components.planes import Arrow, show_planes
from core.figures.palette import palette
from core.figures.projection import layers_figure
from core.ui import controls, presets
from core.ui.current import current_trace
from core.ui.head_maps import show_head_map
from core.ui.messages import quote
from core.screens.projection.help import (
    EXAMPLES_TO_TRY,
    MATHEMATICS,
    compare_sentences,
    describe_pair,
    open_table,
    titles,
)
from core.ui.selectors import pick_token

trace = current_trace()
colours = palette(st.context.theme.type)
pair = default_pair(trace)
if pair is None:
    st.info("This page compares two tokens: type a sentence with two different words.")
    controls.end_page()

labels = unique_labels(tuple(token.display for token in trace.tokens))
with st.container(horizontal=True, vertical_alignment="bottom"):
    a = pick_token("A, the token projected", "a", trace, labels, pair[0])
    b = pick_token("B, the token projected on", "b", trace, labels, pair[1])
name_a, name_b = labels[a], labels[b]
with st.spinner("Reducing every layer to a plane …"):
    projection = project_pair(trace, a, b)

st.markdown(f"**{describe_pair(projection, quote(name_a), quote(name_b))}**")
st.plotly_chart(layers_figure(projection, name_a, name_b, colours), key="projection_layers")
st.caption(
    "Along: the signed length of A on B, both of length 1; 1 is the same direction, 0 a right"
    " angle, −1 the opposite. In the plane: two principal components. In full space: the attention"
    " rows before PCA, because two dimensions can mislead. The same way: 0.71 or more (within 45°)."
)

st.subheader(f"{quote(name_a)} along {quote(name_b)} in each layer's plane", anchor=False)
blue, green, red = colours.accent, colours.query, colours.alert
show_planes(
    projection.vectors,
    [
        Arrow(name_b, blue, f"B: {name_b}"),
        Arrow(name_a, green, f"A: {name_a}"),
        Arrow(f"{name_a} along {name_b}", red, f"{name_a} along {name_b}"),
    ],
    *titles(projection),
    key="projection_planes",
    right_angle=True,
)
st.caption(
    f"{quote(name_b)} (B) is blue, {quote(name_a)} (A) green, and A along B red; the dashed line"
    " meets B at a right angle. The number is the signed length."
)

st.subheader("Which heads link these two words?", anchor=False)
name = f"{name_a} → {name_b}"
show_head_map(trace, projection.a_to_b, name, colours, key="projection_heads", on_open=open_table)
st.caption(
    f"Attention of {quote(name_a)} to {quote(name_b)} in every head; click a square to open that"
    " head's table."
)

compare_sentences(trace.model, colours)
presets.show("projection", lambda: EXAMPLES_TO_TRY)
presets.show_mathematics(MATHEMATICS, title="The mathematics, and what to keep in mind")
