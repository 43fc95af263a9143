"""Queries and keys of a head in one plane, and the search for the constants a and c."""

import streamlit as st

from core.ui.navigation import open_page

open_page("query_key")

from functools import partial

from core.figures.palette import palette
from core.ui import controls, presets
from core.ui.current import current_key, current_trace
from core.screens.query_key.controls import Choice, chosen_tokens, search_range
from core.screens.query_key.faithfulness import show_faithfulness
from core.screens.query_key.heads import show_all_heads
from core.screens.query_key.help import MATHEMATICS, examples
from core.screens.query_key.picture import show_picture
from core.screens.query_key.search import show_search
from core.screens.query_key.wording import CRITERIA, DISTANCES, TARGETS
from core.ui.selectors import pick_part, step_through_heads

PARTS = {
    "picture": "The picture",
    "trust": "How faithful is it?",
    "search": "The search for a and c",
    "heads": "All heads",
}

trace = current_trace(cross=True)
colours = palette(st.context.theme.type)

part = pick_part(PARTS)
with st.container(horizontal=True, vertical_alignment="bottom"):
    layer, head = controls.layer(trace, width=112), controls.head(trace, width=112)
    step_through_heads(trace)
    distance = controls.choice(
        "distance",
        DISTANCES,
        "Distance",
        subject="The distances are",
        help="Between a query and a key. The dot product does not change with it.",
    )
    target = controls.choice(
        "target",
        TARGETS,
        "Scores",
        subject="The scores are",
        default="centred",
        help="What distance is compared with, at every stage: the model's scores less the mean of"
        " their row, which softmax ignores and distances lose too; or the unchanged scores.",
    )
    criterion = controls.choice(
        "criterion",
        CRITERIA,
        "Choose c by",
        subject="The criteria are",
        menu=True,
        width=205,
        help="c multiplies queries and divides keys, so that distance and scores correlate nearest"
        " to −1, or so that queries and keys have equal median norms.",
    )
sources, targets = chosen_tokens(trace) if part in ("picture", "heads") else ((), ())
choice = Choice(
    current_key(trace.model),
    layer,
    head,
    trace.numbers[layer],
    distance,
    criterion,
    target,
    search_range(),
    sources,
    targets,
)

if part == "picture":
    show_picture(trace, choice, colours)
elif part == "trust":
    show_faithfulness(trace, choice)
elif part == "search":
    show_search(trace, choice, colours)
else:
    show_all_heads(trace, choice, colours)
presets.show("query_key", partial(examples, trace))
presets.show_mathematics(MATHEMATICS)
