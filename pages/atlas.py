"""Every head's queries and keys over a whole corpus, searchable."""

import streamlit as st

from core.ui.navigation import open_page

open_page("atlas")

from core.figures.palette import palette
from core.screens.atlas.corpus.making import atlas_of_corpus
from core.screens.atlas.corpus.opening import atlas_from_file, prepared_atlas
from core.screens.atlas.find import find, show_result
from core.screens.atlas.matrix import show_all_heads
from core.screens.atlas.meeting import pick_words, show_meeting
from core.screens.atlas.positions import show_positions
from core.screens.atlas.corpus.images import images_of
from core.screens.atlas.corpus.prepared import PREPARED
from core.screens.atlas.corpus.saving import show_about
from core.screens.atlas.screen import (
    DEFAULT,
    Screen,
    pick_colour,
    pick_projection,
)
from core.screens.atlas.similar import show_similar
from core.screens.atlas.head.single import show_one_head
from core.screens.atlas.large.drawn import COUNTS, pick_drawn
from core.screens.atlas.large.heads import show_all_counts
from core.screens.atlas.large.one import show_one_count
from core.screens.atlas.corpus.source import corpus_of, pick_source, saved_file
from core.screens.atlas.faithfulness import pick_measure, show_faithfulness
from core.screens.atlas.examples import examples_for
from core.screens.atlas.wording import MATHEMATICS
from core.ui import controls, presets
from core.ui.frame import switch
from core.ui.frame.layout import control_row, more, show_terms
from core.ui.selectors import pick_part, step_through_heads, step_through_layers
from core.ui.words.references import show_references

PARTS = {
    "heads": "All heads",
    "one": "One head",
    "words": "Words",
    "positions": "Positions",
    "alike": "Similar",
    "trust": "Faithful?",
}
OF_TEXTS = {"words", "positions"}  # what patches do not have

images = switch.reads() == "image"
colours = palette(st.context.theme.type)
with control_row():
    part = pick_part({key: PARTS[key] for key in PARTS if not images or key not in OF_TEXTS})
    # What this holds depends on the atlas, which depends on the settings behind it.
    own = st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content")
    settings = more()
with settings:
    source, budget = pick_source()
with st.container():  # one place, however long: what moves down the page is redrawn
    if source == "saved":
        shelf = atlas_from_file(saved_file())
    elif source == PREPARED:
        shelf = prepared_atlas(settings)
    else:
        shelf = atlas_of_corpus(images_of(source) if images else corpus_of(source), budget)
atlas = shelf.atlas
assert atlas is not None  # noqa: S101 - without one the page has ended
(projection, stage), colour, search = DEFAULT, "type", None
layer, head = controls.layer(atlas, drawn=False), controls.head(atlas, drawn=False)
with settings:
    if part in ("heads", "one", "trust"):
        projection, stage = pick_projection(atlas)
    counted = part in ("heads", "one") and pick_drawn(shelf.large) == COUNTS
with own:
    if part in ("one", "positions", "alike"):
        layer, head = controls.layer(atlas, width=92), controls.head(atlas, width=92)
        step_through_heads(atlas)
    elif part == "heads":
        colour = "type" if counted else pick_colour(atlas)
        search = find(atlas, stage, settings, shelf.large)
    elif part == "words":
        words = pick_words()
    else:
        choice = pick_measure(settings)
with settings:
    if part in ("one", "positions", "alike"):
        step_through_layers(atlas)
    elif part == "words":
        layer, head = controls.layer(atlas), controls.head(atlas)
    if part == "one" and not counted:
        colour = pick_colour(atlas)
        search = find(atlas, stage, settings, shelf.large)
screen = Screen(shelf, atlas, layer, head, projection, stage, colour, search)
presets.show("atlas", lambda: examples_for(shelf))
with st.container():
    show_result(search, atlas, shelf.large)

if part == "heads":
    (show_all_counts if counted else show_all_heads)(screen, colours)
elif part == "one":
    (show_one_count if counted else show_one_head)(screen)
elif part == "words":
    show_meeting(screen, words, colours)
elif part == "positions":
    show_positions(screen, colours)
elif part == "alike":
    show_similar(screen, colours)
else:
    show_faithfulness(screen, choice, colours)
show_about(shelf)
show_terms("head", "query", "key", "PCA", "faithfulness")
presets.show_mathematics(MATHEMATICS)
show_references("atlas")
