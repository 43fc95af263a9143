"""Which pattern each head follows: a map, a table, the evidence, and similar heads."""

import streamlit as st

from core.ui.navigation import open_page

open_page("patterns")

from collections.abc import Callable
from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.screens.heads import one_head, patterns
from core.screens.heads.effects import with_known_effects
from core.screens.heads.measured import measure
from core.ui.corpus_walk import pick_source
from core.ui.place import pick_head

PARTS: dict[str, Callable[..., None]] = {
    "heads": patterns.show_patterns,
    "one": one_head.show_one,
    "alike": patterns.show_similar,
}

trace = current_trace()
colours = palette(st.context.theme.type)
options: tuple[str, ...] = ()  # of the chosen part
row = control_row()
with row:
    layer, head = pick_head(trace)
    part = pick_part(menu=True, width=165)
    source = pick_source(trace)
heads = with_known_effects(measure(trace, current_key(trace.model), source, layer, head))
with row:
    if part == "heads":
        options = (patterns.pick_colouring(heads),)
    elif part == "one":
        options = (one_head.pick_whole(trace),)
presets.show(partial(patterns.examples, heads))
PARTS[part](heads, colours, *options)
patterns.show_limits(trace)
show_end(patterns.mathematics(trace))
