"""What is odd about a model's heads: sinks, attention to short values, lengths."""

import streamlit as st

from core.ui.navigation import open_page

open_page("anomalies")

from functools import partial

from core.figures.palette import palette
from core.ui import cache, presets
from core.screens.anomalies.first import show_first
from core.screens.anomalies.flags import show_flags
from core.screens.anomalies.help import examples, mathematics
from core.screens.anomalies.moved import show_moved
from core.screens.anomalies.norms import show_norms
from core.screens.anomalies.source import measured_table
from core.screens.anomalies.states import show_states
from core.ui.current import current_key, current_trace
from core.ui.corpus_walk import pick_source, show_unread
from core.ui.selectors import pick_part

PARTS = {
    "flags": "Flagged heads",
    "norms": "Lengths of queries and keys",
    "first": "The first token",
    "moved": "What one head moves",
    "states": "Massive activations",
}
OVER_ALL_HEADS = ("flags", "norms", "first")  # the others show the tokens of the typed text

trace = current_trace(cross=True)
key = current_key(trace.model)
colours = palette(st.context.theme.type)
part = pick_part(PARTS, key="anomaly", subject="The views are")
source = "text"
if part in OVER_ALL_HEADS:
    source = pick_source(trace, label_visibility="collapsed")
    show_unread(trace)
table = measured_table(key, source)

if part == "flags":
    show_flags(trace, key, table, colours)
elif part == "norms":
    show_norms(trace, table, colours)
elif part == "first":
    show_first(trace, table, colours)
elif part == "moved":
    show_moved(trace, table, cache.transformed_norms(key), colours)
else:
    show_states(trace, colours)
presets.show("anomalies", partial(examples, trace, table))
presets.show_mathematics(mathematics(trace))
