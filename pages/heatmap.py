"""Attention as a table of numbers: every token against every token."""

import streamlit as st

from core.ui.navigation import open_page

open_page("heatmap")

from functools import partial
from typing import Literal

from core.analysis.attention_table import Values, attention_table
from core.components.table import show_table
from core.figures.heatmap import heatmap_figure
from core.figures.palette import palette
from core.ui import controls, presets
from core.ui.current import current_trace
from core.ui.downloads import csv_later, offer_file
from core.screens.heatmap.help import examples, explain, mathematics

LAYER_SUMMARIES: tuple[Literal["mean"], ...] = ("mean",)
HEAD_SUMMARIES: tuple[Literal["mean", "max"], ...] = ("mean", "max")

trace = current_trace(cross=True)

with st.container(horizontal=True, vertical_alignment="bottom"):
    layer = controls.layer(trace, summaries=LAYER_SUMMARIES, width=150)
    head = controls.head(trace, summaries=HEAD_SUMMARIES, width=176)
    values: Values = controls.choice(
        "values",
        ["attention", "scores"],
        "Values",
        subject="The values are",
        help="Attention: probabilities after softmax. Scores: the scaled dot products before it.",
    )
    view = controls.choice("view", ["table", "picture"], "View", subject="The views are")
probabilities = values == "attention"
with st.container(horizontal=True):
    hide = controls.flag("hide", "Hide special tokens")
    renormalise = controls.flag(
        "renorm",
        "Renormalise rows",
        disabled=not (hide and probabilities),
        help="Divide each row by its sum over the tokens shown.",
    )
    words = controls.flag(
        "words",
        "Merge word pieces",
        disabled=not probabilities,
        help="Mean over the rows of a word, sum over its columns (Clark et al. 2019).",
    )
    full_scale = controls.flag(
        "full",
        "Colours from 0 to 1",
        disabled=not probabilities,
        help="Off: the darkest colour is the largest value shown. On: it is 1, so that layers and"
        " heads can be compared.",
    )

table = attention_table(
    trace, layer, head, values=values, words=words, hide_special=hide, renormalise=renormalise
)
if not (table.rows.labels and table.columns.labels):
    st.info("This text has only special tokens: show them again to see the table.")
    controls.end_page()
if view == "table":
    show_table(table, key="heatmap_table", full_scale=full_scale)
else:
    colours = palette(st.context.theme.type)
    figure = heatmap_figure(
        table.values,
        table.rows.labels,
        table.where,
        colours,
        signed=not probabilities,
        full_scale=full_scale,
        columns=table.columns.labels,
    )
    st.plotly_chart(figure, key="heatmap_picture")
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(explain(trace, table, layer, head, view), width="stretch")
    offer_file(
        "Download CSV",
        csv_later(table.frame, float_format="%.6f"),
        "attention.csv",
    )
presets.show("heatmap", partial(examples, trace))
presets.show_mathematics(mathematics(trace))
