"""Whether the attention of a head matters: what changes when the head is replaced."""

import streamlit as st

from core.ui.navigation import open_page

open_page("effect")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, more, pick_part, show_end
from core.screens.effect.away import pick_away, show_away
from core.screens.effect.away_controls import measured_trace
from core.screens.effect.heads import show_heads
from core.screens.effect.help import examples, mathematics, mathematics_of_away
from core.screens.effect.looks import pick_axes, show_looks
from core.screens.effect.measuring import measure, pick_measure, pick_replacement
from core.screens.effect.trust import show_trust
from core.screens.effect.writes import pick_sum, show_writes
from core.ui.place import pick_head

trace = current_trace()
row = control_row()
with row:
    part = pick_part(menu=True, width=180)
if part == "trust":
    show_trust()
elif show_unread(trace, "A sentence whose heads are replaced"):
    pass
elif part == "away":
    key = current_key(trace.model)
    with row:
        picked = pick_away(measured_trace(trace, key), key)
    show_away(trace, picked, key, palette(st.context.theme.type))
else:
    key = current_key(trace.model)
    colours = palette(st.context.theme.type)
    with row:
        layer, head = pick_head(trace)
        axes = pick_axes(trace) if part == "looks" else None
        replace = pick_replacement(key) if part == "heads" else None
        with more():
            if part == "looks":
                replace = pick_replacement(key)
            measured_by = pick_sum(key) if part == "writes" else pick_measure(key)
    if replace is None:
        show_writes(trace, key, measured_by, layer, head, colours)
    else:
        heads, found = measure(trace, key, replace, measured_by, layer, head)
        if axes is None:
            presets.show(partial(examples, heads))
            show_heads(heads, found, key, colours)
        else:
            show_looks(heads, key, axes, colours)
show_end(mathematics(), mathematics_of_away(has_words=trace.input.has_words))
