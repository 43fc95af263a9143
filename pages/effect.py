"""Whether the attention of a head matters: what changes when the head is replaced."""

import streamlit as st

from core.ui.navigation import open_page

open_page("effect")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.screens.effect.heads import show_heads
from core.screens.effect.help import examples, mathematics
from core.screens.effect.measuring import measure, pick_settings
from core.screens.effect.trust import show_trust
from core.ui.place import pick_head

trace = current_trace()
row = control_row()
with row:
    part = pick_part(menu=True, width=190)
if part == "trust":
    show_trust()
elif not show_unread(trace, "A sentence whose heads are replaced"):
    key = current_key(trace.model)
    with row:
        layer, head = pick_head(trace)
        replace, measured_by = pick_settings(key)
    heads, found = measure(trace, key, replace, measured_by, layer, head)
    presets.show(partial(examples, heads))
    show_heads(heads, found, key, palette(st.context.theme.type))
show_end(mathematics())
