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
from core.screens.patterns.help import examples, mathematics
from core.screens.patterns.one_head import pick_whole, show_one
from core.screens.patterns.overview import pick_colouring, show_overview
from core.screens.patterns.similar import show_similar
from core.screens.patterns.view import measure_view
from core.screens.patterns.wording import show_limits
from core.ui.corpus_walk import pick_source
from core.ui.place import pick_head

PARTS: dict[str, Callable[..., None]] = {
    "heads": show_overview,
    "one": show_one,
    "alike": show_similar,
}

trace = current_trace()
colours = palette(st.context.theme.type)
options: tuple[str, ...] = ()  # of the part

with control_row():
    layer, head = pick_head(trace)
    part = pick_part(menu=True, width=165)
    source = pick_source(trace)
    if part == "heads":
        options = (pick_colouring(trace),)
    elif part == "one":
        options = (pick_whole(trace),)

view = measure_view(trace, current_key(trace.model), source, layer, head)
presets.show(partial(examples, view))
PARTS[part](view, colours, *options)
show_limits(trace)
show_end(mathematics(trace))
