"""What is odd about a model's heads: sinks, attention to short values, lengths."""

import streamlit as st

from core.ui.navigation import open_page

open_page("anomalies")

from functools import partial

from core.figures.palette import palette
from core.ui import cache, controls, presets
from core.screens.anomalies.first import show_first
from core.screens.anomalies.flags import show_flags
from core.screens.anomalies.help import examples, mathematics
from core.screens.anomalies.moved import show_moved
from core.screens.anomalies.norms import show_norms
from core.screens.anomalies.odd import show_odd
from core.screens.anomalies.source import measured_table
from core.screens.anomalies.states import show_states
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_terms
from core.ui.corpus_walk import pick_source, show_unread
from core.ui.words.references import show_references

PARTS = {
    "flags": "Heads that stand out",
    "norms": "Lengths of queries and keys",
    "first": "The first token",
    "moved": "What one head moves",
    "states": "Massive activations",
}
OF_IMAGES = {"odd": "Odd patches"}
OVER_ALL_HEADS = ("flags", "norms", "first")  # the others show the tokens of the typed text
TERMS = ("head", "sink", "uniform baseline", "query", "key", "value")

trace = current_trace(cross=True)
key = current_key(trace.model)
colours = palette(st.context.theme.type)
row = control_row()
with row:
    parts = PARTS if trace.patches is None else PARTS | OF_IMAGES
    part = controls.choice("anomaly", parts, "View", subject="The views are", menu=True, width=240)
    source = pick_source(trace) if part in OVER_ALL_HEADS else "text"
if part in OVER_ALL_HEADS:
    show_unread(trace)
table = measured_table(key, source)
examples_here = st.container()  # directly above the picture, below what the view adds to the row

if part == "flags":
    show_flags(trace, key, table, colours, row)
elif part == "norms":
    show_norms(trace, table, colours, row)
elif part == "first":
    show_first(trace, table, colours, row)
elif part == "odd":
    show_odd(trace, key, colours, row)
elif part == "moved":
    show_moved(trace, table, cache.transformed_norms(key), colours, row)
else:
    show_states(trace, colours, row)
with examples_here:
    presets.show("anomalies", partial(examples, trace, table))
show_terms(*TERMS)
presets.show_mathematics(mathematics(trace))
show_references("anomalies")
