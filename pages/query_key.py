"""Queries and keys of a head in one plane, and the search for the constants a and c."""

import streamlit as st

from core.ui.navigation import open_page

open_page("query_key")

from core.figures.palette import palette
from core.ui import address
from core.ui.current import current_key, current_trace
from core.screens.query_key.choice import Choice
from core.screens.query_key.heads import open_clicked_head, show_heads
from core.screens.query_key.mathematics import show_mathematics
from core.screens.query_key.picture import show_picture
from core.screens.query_key.presets import show_presets
from core.screens.query_key.restore import restore_ranges, restore_tokens
from core.screens.query_key.search import show_search
from core.screens.query_key.trust import show_trust
from core.screens.query_key.wording import CRITERIA, DISTANCES, TARGETS
from core.ui.selectors import pick_head, pick_layer, pick_part, step_through_heads

PARTS = {
    "picture": "The picture",
    "trust": "Can it be trusted?",
    "search": "The search for a and c",
    "heads": "All heads",
}

trace = current_trace()
colours = palette(st.context.theme.type)
open_clicked_head()
address.restore_choice("distance", list(DISTANCES), "euclidean", "The distances are")
address.restore_choice("target", list(TARGETS), "centred", "The scores are")
address.restore_choice("criterion", list(CRITERIA), "pearson", "The criteria are")

part = pick_part(PARTS)
with st.container(horizontal=True, vertical_alignment="bottom"):
    with st.container(width=112):
        layer = pick_layer(trace)
    with st.container(width=112):
        head = pick_head(trace)
    step_through_heads(trace)
    distance = st.segmented_control(
        "Distance",
        list(DISTANCES),
        key="distance",
        format_func=DISTANCES.__getitem__,
        required=True,
        persist_state="session",
        help="Between a query and a key. The dot product does not change with it.",
    )
    target = st.segmented_control(
        "Scores",
        list(TARGETS),
        key="target",
        format_func=TARGETS.__getitem__,
        required=True,
        persist_state="session",
        help="What distance is compared with, at every stage: the model's scores less the mean of"
        " their row, which softmax cannot see and which distances lose too; or the scores as they"
        " are.",
    )
    with st.container(width=205):
        criterion = st.selectbox(
            "Choose c by",
            list(CRITERIA),
            key="criterion",
            format_func=CRITERIA.__getitem__,
            persist_state="session",
            help="c multiplies queries and divides keys. It is chosen so that distance and scores"
            " correlate nearest to −1; or so that queries and keys have equal median norms.",
        )
ranges, (sources, targets) = restore_ranges(), restore_tokens(trace)
choice = Choice(
    current_key(trace.model), layer, head, distance, criterion, target, ranges, sources, targets
)

if part == "picture":
    show_picture(trace, choice, colours)
elif part == "trust":
    show_trust(trace, choice)
elif part == "search":
    show_search(trace, choice, colours)
else:
    show_heads(trace, choice, colours)
show_presets(trace)
show_mathematics()
