"""Each layer's tokens as arrows in a plane."""

import streamlit as st

from core.ui.navigation import open_page

open_page("vectors")

from functools import partial

from core.analysis.vectors import layer_planes
from core.components.points import Arrow, show_planes
from core.figures.palette import tab20, token_colours
from core.ui import controls, presets
from core.ui.current import current_trace
from core.ui.downloads import contents, offer_csv
from core.ui.navigation import set_headline
from core.ui.frame.layout import caption_row, control_row, more, show_end
from core.screens.vectors.controls import pick_further, pick_held, pick_row
from core.screens.vectors.help import (
    TOO_FEW,
    describe_close_pairs,
    explain_planes,
    headline,
    set_picks,
    show_matrices,
)
from core.vocabulary import percent

trace = current_trace()

with control_row():
    source, summary, layer = pick_row(trace)
    further_box = more()
with further_box:
    special, normalize, all_colours = pick_further()
    held_tokens = pick_held(trace, special=special, pair=not all_colours)

with st.spinner("Reducing every layer to a plane …"):
    planes = layer_planes(
        trace,
        source,
        summary,
        keep_special=special,
        normalize=normalize,
        held=held_tokens,
    )
labels = planes.labels
if all_colours:
    colours = tab20(len(labels))
else:
    of_all = token_colours(len(trace.tokens), st.context.theme.type)
    colours = [of_all[i] for i in planes.positions]
held = [planes.positions.index(position) for position in held_tokens]

presets.show_for(trace)
if len(labels) < 2:
    st.info(TOO_FEW)
    controls.end_page()
file = contents("vectors", trace.model)
if answer := headline(planes, source, layer, len(held)):
    set_headline(answer)
shown = slice(layer, None if layer is None else layer + 1)
show_planes(
    planes.coordinates[shown],
    [Arrow(label, colour, label) for label, colour in zip(labels, colours, strict=True)],
    [f"Layer {number}" for number in trace.layer_labels[shown]],
    [f"{percent(first)} + {percent(second)}" for first, second in planes.explained[shown]],
    key="vector_planes",
    held=held,
    legend=all_colours,
    on_pick=partial(set_picks, planes.positions),
    picture=file.titled(f"Vector grid of {source}"),
)
reading = explain_planes(source, summary, len(labels))
with caption_row(f"{reading} {describe_close_pairs(planes, layer)}"):
    offer_csv(planes.frame, file, index=False, float_format="%.6f")
if source in {"attention", "queries", "keys"}:
    show_matrices(trace, layer, summary, planes.positions)
show_end()
