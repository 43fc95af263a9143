"""Every head's queries and keys over a whole corpus, searchable."""

import streamlit as st

from core.ui.navigation import open_page

open_page("atlas")

from core.figures.palette import palette
from core.screens.atlas.corpus.making import atlas_from_file, atlas_of_corpus
from core.screens.atlas.find import find, show_result
from core.screens.atlas.matrix import show_all_heads
from core.screens.atlas.meeting import show_meeting
from core.screens.atlas.positions import show_positions
from core.screens.atlas.corpus.saving import show_about
from core.screens.atlas.screen import (
    DEFAULT,
    Screen,
    pick_colour,
    pick_projection,
    step_through_matrix,
)
from core.screens.atlas.similar import show_similar
from core.screens.atlas.head.single import show_one_head
from core.screens.atlas.corpus.source import corpus_of, pick_source, saved_file
from core.screens.atlas.faithfulness import show_faithfulness
from core.screens.atlas.wording import EXAMPLE_WITH_LABELS, EXAMPLES, MATHEMATICS
from core.ui import controls, presets
from core.ui.selectors import pick_part

PARTS = {
    "heads": "All heads",
    "one": "One head",
    "words": "Two words",
    "positions": "By position",
    "alike": "Map of heads",
    "trust": "Can it be trusted?",
}

colours = palette(st.context.theme.type)
source, budget = pick_source()
with st.container():  # one place, however long: what moves down the page is redrawn
    if source == "saved":
        shelf = atlas_from_file(saved_file())
    else:
        shelf = atlas_of_corpus(corpus_of(source), budget)
atlas = shelf.atlas
assert atlas is not None  # noqa: S101 - without one the page has ended
part = pick_part(PARTS)
(projection, stage), colour, search = DEFAULT, "type", None
with st.container(horizontal=True, vertical_alignment="bottom"):
    layer, head = controls.layer(atlas, drawn=False), controls.head(atlas, drawn=False)
    if part not in ("heads", "trust"):
        layer, head = controls.layer(atlas, width=105), controls.head(atlas, width=105)
        step_through_matrix(atlas, layer)
    if part in ("heads", "one", "trust"):
        projection, stage = pick_projection(atlas)
    if part in ("heads", "one"):
        colour = pick_colour(atlas)
        search = find(atlas, stage)
screen = Screen(shelf, atlas, layer, head, projection, stage, colour, search)
with st.container():
    show_result(search, atlas)

if part == "heads":
    show_all_heads(screen, colours)
elif part == "one":
    show_one_head(screen)
elif part == "words":
    show_meeting(screen, colours)
elif part == "positions":
    show_positions(screen, colours)
elif part == "alike":
    show_similar(screen, colours)
else:
    show_faithfulness(screen, colours)
show_about(shelf)
examples = [*EXAMPLES, EXAMPLE_WITH_LABELS] if atlas.labels else EXAMPLES
presets.show("atlas", lambda: examples)
presets.show_mathematics(MATHEMATICS)
