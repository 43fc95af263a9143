"""Queries and keys of a head in one plane, and the search for the constants a and c."""

import streamlit as st

from core.ui.navigation import open_page

open_page("query_key")

from functools import partial

from core.figures.palette import palette
from core.ui import controls, presets
from core.ui.clouds.choice import Choice
from core.ui.clouds.faithfulness import show_faithfulness
from core.ui.clouds.pickers import pick_measure, pick_slow
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_terms
from core.ui.words.references import show_references
from core.screens.query_key.controls import chosen_tokens, search_range
from core.screens.query_key.heads import show_all_heads
from core.screens.query_key.help import MATHEMATICS, examples
from core.screens.query_key.options import pick_map, picture_options
from core.screens.query_key.picture import show_picture
from core.screens.query_key.search import show_search
from core.ui.selectors import pick_part, step_through_heads

PARTS = {
    "picture": "Picture",
    "trust": "Faithful?",
    "search": "Search",
    "heads": "All heads",
}

trace = current_trace(cross=True)
colours = palette(st.context.theme.type)

with control_row():
    part = pick_part(PARTS)
    layer = controls.layer(trace, width=96)
    head = controls.head(trace, width=96, drawn=part != "search")  # there it stands further down
    if part != "search":
        step_through_heads(trace)
    ranges = search_range(drawn=part == "search")
    sources, targets = chosen_tokens(trace) if part in ("picture", "heads") else ((), ())
    if part == "picture":
        options = picture_options(trace)
    elif part == "trust":
        slow = pick_slow()
    elif part == "heads":
        quantity, stage = pick_map(trace)
measure = pick_measure()
presets.show("query_key", partial(examples, trace), measured_on=current_key(trace.model))
choice = Choice(
    current_key(trace.model),
    layer,
    head,
    trace.numbers[layer],
    measure.distance,
    measure.criterion,
    measure.target,
    ranges,
    sources,
    targets,
)

if part == "picture":
    show_picture(trace, choice, options, colours)
elif part == "trust":
    show_faithfulness(trace, choice, slow=slow)
elif part == "search":
    show_search(trace, choice, colours)
else:
    show_all_heads(trace, choice, quantity, stage, colours)
show_terms("query", "key", "head", "layer", "score", "row", "[CLS]")
presets.show_mathematics(MATHEMATICS)
show_references("query_key")
