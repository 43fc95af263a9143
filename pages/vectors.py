"""Each layer's tokens as arrows in a plane."""

import streamlit as st

from core.ui.navigation import open_page

open_page("vectors")

from functools import partial
from typing import Literal

from core.analysis.attention_table import unique_labels
from core.analysis.vectors import Source, layer_planes, planes_frame
from core.components.planes import Arrow, show_planes
from core.figures.palette import palette, token_colours
from core.figures.vectors import Arrows, moving_figure, plane_figure, space_figure
from core.ui import controls, presets
from core.ui.current import current_trace
from core.ui.downloads import csv_later, offer_file
from core.screens.vectors.help import (
    MATHEMATICS,
    describe_close_pairs,
    examples,
    explain,
    pick_heads,
    set_picks,
)

SOURCES: list[Source] = ["attention", "queries", "keys", "values", "hidden states"]
VIEWS = ["all layers", "one layer", "play"]

SUMMARIES: tuple[Literal["mean", "median", "max"], ...] = ("mean", "median", "max")

trace = current_trace()
theme = st.context.theme.type

with st.container(horizontal=True, vertical_alignment="bottom"):
    source = controls.choice(
        "draw", SOURCES, "Draw", subject="What can be drawn is", menu=True, width=160
    )
    summary = controls.head(trace, summaries=SUMMARIES, width=176)
    heads = pick_heads(trace) if isinstance(summary, str) and source != "hidden states" else []
    view = controls.choice("show", VIEWS, "View", subject="The views are")
    layer = controls.layer(trace, width=130) if view == "one layer" else None
align = own_scale = space = False
with st.container(horizontal=True):
    special = controls.flag("special", "Keep special tokens")
    normalize = controls.flag(
        "norm",
        "Normalise planes",
        default=True,
        help="Divide each plane by its Frobenius norm, as the workshop chapter does.",
    )
    if view == "all layers":
        align = controls.flag(
            "align",
            "Align layers",
            help="Turn and mirror each plane onto the one before, so that a token can be followed."
            " Distances do not change.",
        )
        own_scale = controls.flag("scale", "Own scale for each layer")
    if view == "one layer":
        space = controls.flag("space", "Three dimensions")

with st.spinner("Reducing every layer to a plane …"):
    planes = layer_planes(
        trace,
        source,
        summary,
        heads=heads,
        keep_special=special,
        normalize=normalize,
        align=align or view == "play",
        components=3 if space else 2,
    )
labels = unique_labels(tuple(trace.tokens[i].display for i in planes.positions))
colours = token_colours(len(trace.tokens), theme)
shown_colours = [colours[i] for i in planes.positions]
names = {i + 1: label for i, label in zip(planes.positions, labels, strict=True)}
picks = controls.tokens(
    "pick",
    list(names),
    "Tokens that stay coloured",
    names=names.__getitem__,
    placeholder="All; pick some here or by clicking arrows",
)
picked = [planes.positions.index(position - 1) for position in picks]

if not labels:
    st.info("Every token of this text is a special one: keep them to see their arrows.")
    controls.end_page()
if view == "all layers":
    show_planes(
        planes.coordinates,
        [Arrow(label, colour, label) for label, colour in zip(labels, shown_colours, strict=True)],
        [f"Layer {number}" for number in trace.numbers],
        [f"{first:.0%} + {second:.0%}" for first, second in planes.explained],
        key="vector_planes",
        picked=picked,
        own_scale=own_scale,
        on_pick=partial(set_picks, planes.positions),
    )
else:
    arrows = Arrows(labels, shown_colours, picked, palette(theme))
    if view == "play":
        st.plotly_chart(
            moving_figure(planes.coordinates, trace.numbers, arrows), key="vectors_moving"
        )
    else:
        draw = space_figure if space else plane_figure
        figure = draw(planes.coordinates[layer], planes.explained[layer], arrows)
        st.plotly_chart(figure, key="vectors_one")
with st.container(horizontal=True, vertical_alignment="center"):
    reading = explain(source, summary, heads, view=view, special=special)
    st.caption(f"{reading} {describe_close_pairs(planes, layer)}", width="stretch")
    offer_file(
        "Download CSV",
        csv_later(partial(planes_frame, planes, labels), index=False, float_format="%.6f"),
        "vectors.csv",
    )
presets.show("vectors", partial(examples, trace))
presets.show_mathematics(MATHEMATICS)
