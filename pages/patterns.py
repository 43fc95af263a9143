"""Which pattern each head follows: a map, a table, the evidence, and heads alike."""

import streamlit as st

from core.ui.navigation import open_page

open_page("patterns")

from core.figures.palette import palette
from core.ui import address
from core.ui.current import current_key, current_trace
from core.screens.patterns.alike import publish_alike, show_alike
from core.screens.patterns.found import find, pick_thresholds, restore_thresholds
from core.screens.patterns.help import show_mathematics, show_presets
from core.screens.patterns.one_head import pick_view, publish_one, restore_view, show_one
from core.screens.patterns.overview import (
    pick_colouring,
    publish_overview,
    restore_colouring,
    show_overview,
)
from core.screens.patterns.pronouns import (
    pick_marked,
    publish_pronouns,
    restore_marked,
    show_pronouns,
)
from core.ui.corpus_walk import SOURCES
from core.screens.patterns.source import say_cancelled
from core.ui.selectors import pick_head, pick_layer, pick_part, step_through_heads

PARTS = {
    "heads": "All heads",
    "one": "One head",
    "alike": "Heads alike",
    "pronouns": "Coreference",
}

trace = current_trace()
theme = st.context.theme.type
colours = palette(theme)
address.restore_choice("source", list(SOURCES), "text", "Heads can be measured on")
address.restore_flag("chance", default=True)
restore_colouring()
restore_view()
restore_thresholds()
restore_marked()

part = pick_part(PARTS)
with st.container(horizontal=True, vertical_alignment="bottom"):
    if part == "pronouns":  # marked in built-in sentences, and in no visitor's text
        source = "text"
        pick_marked()
    else:
        source = st.segmented_control(
            "Measured on",
            list(SOURCES),
            key="source",
            format_func=SOURCES.__getitem__,
            required=True,
            persist_state="session",
        )
    with st.container(width=105):
        layer = pick_layer(trace)
    with st.container(width=105):
        head = pick_head(trace)
    step_through_heads(trace)
    if part == "heads":
        with st.container(width=190):
            pick_colouring()
    elif part == "one":
        pick_view()
    if part in ("heads", "alike"):
        pick_thresholds()
if part == "heads":
    publish_overview()
elif part == "one":
    publish_one(corpus=source == "corpus")
elif part == "alike":
    publish_alike()
else:
    publish_pronouns()

if source == "text" and part != "pronouns":
    say_cancelled(trace.model)
found = find(trace, current_key(trace.model), source, layer, head)
if part == "heads":
    show_overview(found, colours, theme)
elif part == "one":
    show_one(found, colours)
    publish_one(corpus=source == "corpus")
elif part == "alike":
    show_alike(found, colours, theme)
else:
    show_pronouns(found, colours)
show_presets(found)
show_mathematics()
