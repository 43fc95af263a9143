"""How much of one token lies along another, layer by layer."""

import streamlit as st

from core.ui.charts import show_chart
from core.ui.navigation import open_page

open_page("projection")

from core.vocabulary import labels_of
from core.analysis.pair_projection import default_pair, project_pair
from core.components.planes import Arrow, show_planes
from core.figures.palette import palette
from core.figures.projection import layers_figure
from core.ui import controls, presets, python
from core.ui.current import current_trace, found_head
from core.ui.downloads import contents, csv_later, offer_file
from core.ui.frame.layout import control_row, show_end
from core.ui.head_maps import show_head_map
from core.ui.words.messages import quote
from core.ui.navigation import ask
from core.screens.projection.help import (
    MATHEMATICS,
    compare_sentences,
    describe_pair,
    examples,
    open_table,
    titles,
)
from core.ui.selectors import pick_token

trace = current_trace()
colours = palette(st.context.theme.type)
pair = default_pair(trace, found_head(trace))
if pair is None:
    st.info("This page compares two tokens: type a sentence with two different words.")
    controls.end_page()

labels = labels_of(trace.tokens)
with control_row():
    a = pick_token("Does …", "a", trace, labels, pair[0])
    b = pick_token("… point along …", "b", trace, labels, pair[1])
    name_a, name_b = labels[a], labels[b]
presets.show(examples)
ask(f"At which layer does {quote(name_a)} point along {quote(name_b)}?")
with st.spinner("Reducing every layer to a plane …"):
    projection = python.shown("projection", project_pair, trace, a, b)
st.markdown(f"**{describe_pair(projection, quote(name_a), quote(name_b))}**")
figure = layers_figure(projection, name_a, name_b, colours)
show_chart(figure, key="projection_layers", alt="A along B, layer by layer")
st.caption(
    "Along: the signed length of A on B, both of length 1; 1 is the same direction, 0 a right"
    " angle, −1 the opposite. Alike: 0.71 or more (within 45°). Full space: attention rows before"
    " PCA."
)

st.header(f"{quote(name_a)} along {quote(name_b)} in each layer's plane", anchor=False)
held = contents("projection", trace.model, f"{name_a}-on-{name_b}")
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
    picture=held.titled(f"{name_a} along {name_b}"),
)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(
        f"{quote(name_b)} (B) is blue, {quote(name_a)} (A) green, and A along B red; the dashed"
        " line meets B at a right angle. The number is the signed length.",
        width="stretch",
    )
    table = csv_later(
        python.later("frame", projection.frame), held, index=False, float_format="%.6f"
    )
    offer_file("Download CSV", table, held, ".csv")

st.header("Which heads link these two words?", anchor=False)
name = f"{name_a} → {name_b}"
show_head_map(trace, projection.a_to_b, name, colours, key="projection_heads", on_open=open_table)
st.caption(
    f"Attention of {quote(name_a)} to {quote(name_b)} in every head; click a square to open that"
    " head's table."
)

compare_sentences(trace.model, colours)
show_end(MATHEMATICS)
