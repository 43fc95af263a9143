"""Each layer's tokens as arrows in a plane."""

import streamlit as st

from core.ui.navigation import open_page

open_page("vectors")

from functools import partial

from core.analysis.attention_table import unique_labels
from core.analysis.vectors import layer_planes, planes_frame
from core.components.planes import Arrow, show_planes
from core.figures.palette import palette, token_colours
from core.figures.vectors import Arrows, moving_figure, plane_figure, space_figure
from core.ui import address
from core.ui.current import current_trace
from core.ui.downloads import csv_later
from core.ui.selectors import pick_head, pick_layer
from core.screens.vectors.help import (
    explain,
    pick_heads,
    say_agreement,
    set_picks,
    show_mathematics,
    show_presets,
)

SOURCES = ["attention", "queries", "keys", "values", "hidden states"]
VIEWS = ["all layers", "one layer", "play"]

trace = current_trace()
theme = st.context.theme.type

address.restore_choice("draw", SOURCES, "attention", "What can be drawn is")
address.restore_choice("show", VIEWS, "all layers", "The views are")
for switch, default in (("special", False), ("norm", True), ("align", False), ("scale", False)):
    address.restore_flag(switch, default)
address.restore_flag("space")

with st.container(horizontal=True, vertical_alignment="bottom"):
    with st.container(width=160):
        source = st.selectbox("Draw", SOURCES, key="draw", persist_state="session")
    with st.container(width=176):
        summary = pick_head(trace, summaries=("mean", "median", "max"))
    heads = pick_heads(trace) if isinstance(summary, str) and source != "hidden states" else []
    view = st.segmented_control("View", VIEWS, key="show", required=True, persist_state="session")
    layer = None
    if view == "one layer":
        with st.container(width=130):
            layer = pick_layer(trace)
with st.container(horizontal=True):
    special = st.toggle("Keep special tokens", key="special", persist_state="session")
    normalize = st.toggle(
        "Normalise planes",
        key="norm",
        persist_state="session",
        help="Divide each plane by its Frobenius norm, as the workshop chapter does.",
    )
    if view == "all layers":
        align = st.toggle(
            "Align layers",
            key="align",
            persist_state="session",
            help="Turn and mirror each plane onto the one before, so that a token can be followed."
            " Distances do not change.",
        )
        own_scale = st.toggle("Own scale for each layer", key="scale", persist_state="session")
    if view == "one layer":
        space = st.toggle("Three dimensions", key="space", persist_state="session")

with st.spinner("Reducing every layer to a plane …"):
    planes = layer_planes(
        trace,
        source,
        summary,
        heads=heads,
        keep_special=special,
        normalize=normalize,
        align=view == "play" or (view == "all layers" and align),
        components=3 if view == "one layer" and space else 2,
    )
labels = unique_labels(tuple(trace.tokens[i].display for i in planes.positions))
colours = token_colours(len(trace.tokens), theme)
shown_colours = [colours[i] for i in planes.positions]
address.restore_numbers("pick", [i + 1 for i in planes.positions])
names = dict(zip((i + 1 for i in planes.positions), labels, strict=True))
picks = st.multiselect(
    "Tokens that stay coloured",
    [i + 1 for i in planes.positions],
    key="pick",
    format_func=names.__getitem__,
    placeholder="All; pick some here or by clicking arrows",
    persist_state="session",
)
picked = [planes.positions.index(position - 1) for position in picks]
options = {"all layers": ("align", "scale"), "one layer": ("layer", "space"), "play": ()}[view]
address.publish("head", "of", "draw", "show", "pick", "special", "norm", *options)

if not labels:
    st.info("Every token of this text is a special one: keep them to see their arrows.")
    st.stop()
if view == "all layers":
    show_planes(
        planes.coordinates,
        [Arrow(label, colour, label) for label, colour in zip(labels, shown_colours, strict=True)],
        [f"Layer {layer + 1}" for layer in range(trace.shape[0])],
        [f"{first:.0%} + {second:.0%}" for first, second in planes.explained],
        key="vector_planes",
        picked=picked,
        own_scale=own_scale,
        on_pick=partial(set_picks, planes.positions),
    )
elif view == "play":
    arrows = Arrows(labels, shown_colours, picked, palette(theme))
    st.plotly_chart(moving_figure(planes.coordinates, arrows), key="vectors_moving")
else:
    arrows = Arrows(labels, shown_colours, picked, palette(theme))
    draw = space_figure if space else plane_figure
    figure = draw(planes.coordinates[layer], planes.explained[layer], arrows)
    st.plotly_chart(figure, key="vectors_one")
with st.container(horizontal=True, vertical_alignment="center"):
    reading = explain(source, summary, heads, view=view, special=special)
    st.caption(f"{reading} {say_agreement(planes, view, layer)}", width="stretch")
    st.download_button(
        "Download CSV",
        csv_later(partial(planes_frame, planes, labels), index=False, float_format="%.6f"),
        file_name="vectors.csv",
        mime="text/csv",
        on_click="ignore",
    )
show_presets(trace)
show_mathematics()
