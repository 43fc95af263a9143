"""Attention as a table of numbers: every token against every token."""

import streamlit as st

from core.ui.navigation import open_page

open_page("heatmap")

from core.analysis.attention_table import attention_table
from core.components.table import show_table
from core.figures.heatmap import heatmap_figure
from core.figures.palette import palette
from core.ui import address
from core.ui.current import current_trace
from core.ui.downloads import csv_later
from core.screens.heatmap.help import explain, show_mathematics, show_presets
from core.ui.selectors import pick_head, pick_layer

trace = current_trace()

address.restore_choice("view", ["table", "picture"], "table", "The views are")
address.restore_choice("values", ["attention", "scores"], "attention", "The values are")
for switch in ("words", "hide", "renorm", "full"):
    address.restore_flag(switch)

with st.container(horizontal=True, vertical_alignment="bottom"):
    with st.container(width=150):
        layer = pick_layer(trace, mean=True)
    with st.container(width=176):
        head = pick_head(trace, summaries=("mean", "max"))
    values = st.segmented_control(
        "Values",
        ["attention", "scores"],
        key="values",
        required=True,
        persist_state="session",
        help="Attention: probabilities after softmax. Scores: the scaled dot products before it.",
    )
    view = st.segmented_control(
        "View", ["table", "picture"], key="view", required=True, persist_state="session"
    )
probabilities = values == "attention"
with st.container(horizontal=True):
    hide = st.toggle("Hide special tokens", key="hide", persist_state="session")
    renormalise = st.toggle(
        "Renormalise rows",
        key="renorm",
        persist_state="session",
        disabled=not (hide and probabilities),
        help="Divide each row by what is left of it once special tokens are hidden.",
    )
    words = st.toggle(
        "Merge word pieces",
        key="words",
        persist_state="session",
        disabled=not probabilities,
        help="Mean over the rows of a word, sum over its columns (Clark et al. 2019).",
    )
    full_scale = st.toggle(
        "Colours from 0 to 1",
        key="full",
        persist_state="session",
        disabled=not probabilities,
        help="Off: the darkest colour is the largest value shown. On: it is 1, so that layers and"
        " heads compare.",
    )
working = ("words", "full", *(("renorm",) if hide else ())) if probabilities else ()
address.publish("layer", "head", "view", "values", "hide", *working)

table = attention_table(
    trace,
    layer,
    head,
    values=values,
    words=words and probabilities,
    hide_special=hide,
    renormalise=renormalise and hide and probabilities,
)
if not table.labels:
    st.info("Every token of this text is a special one: show them again to see the table.")
    st.stop()
if view == "table":
    show_table(table, key="heatmap_table", full_scale=full_scale)
else:
    figure = heatmap_figure(
        table.values,
        table.labels,
        table.where,
        palette(st.context.theme.type),
        signed=not probabilities,
        full_scale=full_scale,
    )
    st.plotly_chart(figure, key="heatmap_picture")
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(explain(trace, table, layer, head, view), width="stretch")
    st.download_button(
        "Download CSV",
        csv_later(table.frame, float_format="%.6f"),
        file_name="attention.csv",
        mime="text/csv",
        on_click="ignore",
    )
show_presets(trace)
show_mathematics(trace)
