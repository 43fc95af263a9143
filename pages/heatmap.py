"""Attention as a table of numbers: every token against every token."""

import streamlit as st

from core.ui.navigation import open_page

words = open_page("heatmap")

from typing import Literal

from core.analysis.attention_table import Values, attention_table
from core.components.table import show_table
from core.ui import controls, presets
from core.ui.current import current_trace, found_head
from core.ui.downloads import contents, offer_csv
from core.ui.frame.layout import caption_row, control_row, more, show_end
from core.ui.place import pick_head
from core.ui.words.labels import hide_special
from core.screens.heatmap import KEY, cells_to_show, take_cell

LAYER_SUMMARIES: tuple[Literal["mean"], ...] = ("mean",)
HEAD_SUMMARIES: tuple[Literal["mean", "max"], ...] = ("mean", "max")

trace = current_trace()

with control_row():
    layer, head = pick_head(trace, layers=LAYER_SUMMARIES, heads=HEAD_SUMMARIES)
    values: Values = controls.choice(
        "values",
        ["attention", "scores"],
        "Values",
        subject="The values are",
        label_visibility="collapsed",
    )
    probabilities, pieces = values == "attention", trace.input.has_words
    with more():
        hide = controls.flag("hide", hide_special(trace))
        merge = controls.flag(
            "words",
            "Merge word pieces" if pieces else "",
            disabled=not (probabilities and pieces),
            help="Mean over the rows of a word, sum over its columns (Clark et al. 2019).",
        )
presets.show_for(trace)

table = attention_table(trace, layer, head, values=values, words=merge, hide_special=hide)
if not (table.rows.labels and table.columns.labels):
    st.info("This text has only special tokens: show them again to see the table.")
    controls.end_page()
saved = contents("heatmap", trace.model)
show_table(
    table,
    key=KEY,
    cells=cells_to_show(trace, layer, head, found_head(trace)),
    on_hold=take_cell,
    picture=saved.titled(values.capitalize(), place=table.where),
)
low, high = table.row_sums.min(), table.row_sums.max()
reading = words(
    "reading",
    scores=table.kind == "scores",
    sums="1" if table.rows_sum_to_one else f"{low:.2f} to {high:.2f}",
    hatched=not table.permitted.all(),
    hidden=table.hidden,
)
with caption_row(reading):
    offer_csv(table.frame, saved, float_format="%.6f")
show_end()
