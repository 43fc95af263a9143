"""Queries and keys of a head as the patches they stand for, and what each head follows."""

import streamlit as st

from core.ui.navigation import open_page

open_page("patch_space")

from functools import partial

from core.figures.palette import palette
from core.ui import controls, presets
from core.ui.clouds.choice import Choice
from core.ui.clouds.faithfulness import show_faithfulness
from core.ui.clouds.pickers import pick_measure, pick_slow
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_terms
from core.ui.words.references import show_references
from core.screens.patch_space.following import (
    known_table,
    pick_source,
    show_cancelled,
    table_for,
)
from core.screens.patch_space.help import MATHEMATICS, examples
from core.screens.patch_space.options import pick_points
from core.screens.patch_space.overview import Follows, pick_colouring, show_overview
from core.screens.patch_space.points import show_points
from core.ui.selectors import pick_part, step_through_heads

PARTS = {"points": "Points", "follow": "What heads follow", "faithful": "Faithful?"}

trace = current_trace()
key, colours = current_key(trace.model), palette(st.context.theme.type)

with control_row():
    part = pick_part(PARTS)
    layer, head = controls.layer(trace, width=96), controls.head(trace, width=96)
    if part != "follow":  # there a click in the map chooses
        step_through_heads(trace)
    if part == "points":
        options = pick_points(trace)
    elif part == "follow":
        source, colouring = pick_source(), pick_colouring(trace)
    else:
        slow = pick_slow()
distance, target, criterion = pick_measure()
choice = Choice(key, layer, head, trace.numbers[layer], distance, criterion, target)

table = table_for(key, source) if part == "follow" else None
known = known_table(key)
presets.show("patch_space", partial(examples, known), measured_on=(key, known is None))
if table is not None:
    show_overview(Follows(trace, table, source, layer, head), colouring, colours)
elif part == "points":
    show_points(trace, choice, options)
    if known is not None:
        st.markdown(Follows(trace, known, "image", layer, head).sentence)
else:
    show_faithfulness(trace, choice, slow=slow, searched=False)
if part == "follow":
    show_cancelled(key)
show_terms("patch", "query", "key", "head", "score", "[CLS]")
presets.show_mathematics(MATHEMATICS)
show_references("patch_space")
