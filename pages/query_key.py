"""Queries and keys of a head in one plane, the search for a and c, and what heads follow."""

import streamlit as st

from core.ui.navigation import ask, open_page

open_page("query_key")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.place import pick_head
from core.screens.query_key.choice import Choice, has_looks, head_scaling
from core.screens.query_key.faithfulness import show_faithfulness
from core.screens.query_key.controls import pick_measure, pick_slow
from core.screens.query_key.wording import headline
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, pick_part, show_end
from core.screens.query_key.controls import chosen_tokens, search_range
from core.screens.query_key.following import known_table, pick_source, show_cancelled, table_for
from core.screens.query_key.heads import show_all_heads
from core.screens.query_key.help import MATHEMATICS, OF_IMAGES, examples
from core.screens.query_key.options import pick_map, picture_options
from core.screens.query_key.picture import show_picture
from core.screens.query_key.search import show_search
from core.screens.query_key.selectivity import Follows, pick_colouring, show_selectivity

trace = current_trace()
key, colours = current_key(trace.model), palette(st.context.theme.type)
of_image = has_looks(trace)

with control_row():
    layer, head = pick_head(trace)
    part = pick_part(menu=True, width=135)
    ranges = search_range(drawn=part == "search")
    sources, targets = chosen_tokens(trace) if part in ("picture", "heads") else ((), ())
    if part == "picture":
        options = picture_options(trace)
    elif part == "trust":
        slow = pick_slow()
    elif part == "heads":
        quantity = pick_map()
    elif part == "follow":
        source, colouring = pick_source(), pick_colouring(trace)
measure = pick_measure()
choice = Choice(
    key,
    layer,
    head,
    trace.layer_labels[layer],
    measure.distance,
    measure.criterion,
    measure.target,
    ranges,
    sources,
    targets,
)

if part != "follow":
    stage = options.stage if part == "picture" else "best"
    scaling = head_scaling(
        key, choice.layer, choice.head, measure.distance, measure.criterion, measure.target
    )
    answer = headline(trace, scaling, choice, stage)
    if answer:
        first = "Point at a query to see its keys." if part == "picture" else ""
        ask(answer, first, tokens=len(trace.tokens))

table = table_for(key, source) if part == "follow" else None
known = known_table(key) if of_image else None
presets.show(partial(examples, trace, known), measured_on=(key, known is None))
if table is not None:
    follows = Follows(trace=trace, table=table, source=source, layer=layer, head=head)
    show_selectivity(follows, colouring, colours)
    show_cancelled(key)
elif part == "picture":
    show_picture(trace, choice, options)
    if known is not None:
        follows = Follows(trace=trace, table=known, source="image", layer=layer, head=head)
        st.markdown(follows.sentence)
elif part == "trust":
    show_faithfulness(trace, choice, slow=slow)
elif part == "search":
    show_search(trace, choice, colours)
else:
    show_all_heads(trace, choice, quantity, colours)
show_end(*([OF_IMAGES] if of_image else []), MATHEMATICS)
