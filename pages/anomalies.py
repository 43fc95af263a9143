"""What is odd about a model's heads: sinks, attention to short values, lengths."""

import streamlit as st

from core.ui.navigation import open_page

open_page("anomalies")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.screens.heads import one_head, unusual
from core.screens.heads.effects import with_known_effects
from core.screens.heads.massive_activations import show_high_norm_patches, show_massive_activations
from core.screens.heads.measured import measure
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.ui.corpus_walk import pick_source, show_unread
from core.ui.place import pick_head

trace = current_trace()
colours = palette(st.context.theme.type)
row = control_row()
with row:
    part = pick_part(menu=True, width=200)
    source = pick_source(trace) if part == "flags" else "text"  # other parts show the typed text
    layer, head = pick_head(trace) if part == "moved" else (0, 0)
    hide = part == "moved" and one_head.pick_first_token(trace)
heads = with_known_effects(measure(trace, current_key(trace.model), source, layer, head))
if part == "flags":
    show_unread(trace)
    with row:
        flag = unusual.pick_flag(heads.table)
    unusual.show_unusual(heads, colours, flag)
elif part == "moved":
    one_head.show_moved(heads, colours, hide=hide)
else:
    {"states": show_massive_activations, "odd": show_high_norm_patches}[part](heads, colours)
presets.show(partial(unusual.examples, heads))
show_end(unusual.MATHEMATICS)
