"""Queries and keys of a head in one plane, the search for a and c, and what heads follow."""

import streamlit as st

from core.ui.navigation import set_headline, open_page

words = open_page("query_key")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.heads import HeadTable
from core.ui.place import pick_head
from core.screens.query_key.choice import Choice, has_looks, scaling_of
from core.screens.query_key.wording import headline
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, more, pick_part, show_end
from core.screens.query_key import controls
from core.screens.query_key.heads import show_all_heads
from core.model.running.twin import TWIN_SEED
from core.screens.query_key.picture import show_picture
from core.screens.query_key.search import show_search
from core.screens.query_key.selectivity import (
    examples,
    known_table,
    show_selectivity,
    table_for,
    what_it_follows,
)

trace = current_trace()
key, colours = current_key(trace.model), palette(st.context.theme.type)
of_image = has_looks(trace)

with control_row():
    layer, head = pick_head(trace)
    part = pick_part(menu=True, width=135)
    ranges = controls.search_range(drawn=part == "search")
    if part == "picture":
        look = controls.pick_stage(trace)
    with more():
        chosen = controls.chosen_tokens(trace, drawn=part == "picture")
        if part == "picture":
            options = controls.pick_look(trace, *look)
        measure = controls.pick_measure(drawn=part != "follow")
choice = Choice(key, layer, head, trace.layer_labels[layer], *measure, ranges, *chosen)

if part != "follow":
    stage = options.stage if part == "picture" else controls.ALL_THREE
    if answer := headline(trace, scaling_of(choice, head), choice, stage):
        first = "Point at a query to see its keys." if part == "picture" else ""
        set_headline(answer, first, tokens=len(trace.tokens))

table = table_for(key) if part == "follow" else None
known = known_table(key) if of_image else None
if known is None:
    presets.show_for(trace)
else:  # presets that name heads
    presets.show(partial(examples, known), measured_on=(key, "measured"))
if table is not None:
    follows = HeadTable(trace=trace, table=table, layer=layer, head=head)
    show_selectivity(follows, colours)
elif part == "picture":
    show_picture(trace, choice, options, colours)
    if known is not None:
        follows = HeadTable(trace=trace, table=known, layer=layer, head=head)
        st.markdown(what_it_follows(follows))
elif part == "search":
    show_search(trace, choice, colours)
else:
    show_all_heads(trace, choice, colours)
of_images = [words("mathematics_of_images", twin_seed=TWIN_SEED)] if of_image else []
show_end(*of_images, words("mathematics"))
