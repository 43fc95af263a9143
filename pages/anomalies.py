"""What is odd about a model's heads: sinks, attention to short values, lengths."""

import streamlit as st

from core.ui.navigation import open_page

open_page("anomalies")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.screens.heads.effects import with_known_effects
from core.screens.heads.measured import measure
from core.screens.heads.one_head import pick_first_token, show_moved
from core.screens.heads.states import show_odd, show_states
from core.screens.heads.unusual import MATHEMATICS, examples, pick_flag, show_unusual
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.ui.corpus_walk import pick_source, show_unread
from core.ui.place import pick_head

trace = current_trace()
colours = palette(st.context.theme.type)
row = control_row()
source, layer, head = "text", 0, 0
with row:
    part = pick_part(menu=True, width=200)
    if part == "flags":
        source = pick_source(trace)
    elif part == "moved":
        layer, head = pick_head(trace)
if part == "flags":
    show_unread(trace)
heads = with_known_effects(measure(trace, current_key(trace.model), source, layer, head))
if part == "flags":
    with row:
        flag = pick_flag(heads.table)
    show_unusual(heads, colours, flag)
elif part == "moved":
    with row:
        hide = pick_first_token(trace)
    show_moved(heads, colours, hide=hide)
elif part == "states":
    show_states(heads, colours)
else:
    show_odd(heads, colours)
presets.show(partial(examples, heads))
show_end(MATHEMATICS)
