"""Whether the attention of a head matters: what changes when the head is replaced."""

import streamlit as st

from core.ui.navigation import open_page

open_page("effect")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_end
from core.screens.effect.heads import show_heads
from core.screens.effect.help import examples, mathematics
from core.screens.effect.measuring import measure, note_measured, pick_settings
from core.ui import controls
from core.ui.place import pick_head

trace = current_trace()
if show_unread(trace, "A sentence whose heads are replaced"):
    controls.end_page()
key = current_key(trace.model)
with control_row():
    layer, head = pick_head(trace)
    replace, measured_by = pick_settings(key)
heads, found = measure(trace, key, replace, measured_by, layer, head)
note_measured(trace, found)
presets.show(partial(examples, heads))
show_heads(heads, found, key, palette(st.context.theme.type))
show_end(mathematics())
