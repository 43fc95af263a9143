"""What is odd about a model's heads: sinks, attention to short values, lengths."""

import streamlit as st

from core.ui.navigation import open_page

open_page("anomalies")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.screens.anomalies.flags import show_flags
from core.screens.anomalies.moved import show_moved
from core.screens.anomalies.odd import show_odd
from core.screens.anomalies.source import measured_table
from core.screens.anomalies.states import show_states
from core.screens.anomalies.wording import MATHEMATICS, examples
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.ui.corpus_walk import pick_source, show_unread

PARTS = {
    "flags": show_flags,
    "moved": show_moved,
    "states": show_states,
    "odd": show_odd,
}

trace = current_trace()
colours = palette(st.context.theme.type)
row = control_row()
with row:
    part = pick_part(menu=True, width=200)
    source = pick_source(trace) if part == "flags" else "text"  # the others show the typed text
if part == "flags":
    show_unread(trace)
table = measured_table(current_key(trace.model), source)

PARTS[part](trace, table, colours, row)
presets.show(partial(examples, trace, table))
show_end(MATHEMATICS)
