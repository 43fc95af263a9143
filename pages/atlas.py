"""Every head's queries and keys over a whole corpus, searchable."""

import streamlit as st

from core.ui.navigation import set_headline, open_page

open_page("atlas")

from core.screens.atlas.first import first_entry, show_until_made
from core.screens.atlas.corpus.opening import describe_atlas, open_entry
from core.screens.atlas.corpus.source import pick_corpus, shows_images
from core.screens.atlas.wording import examples_for
from core.screens.atlas.find import draw_search, find_tokens, show_result
from core.screens.atlas.matrix import show_matrix
from core.screens.atlas.screen import (
    Screen,
    pick_colour,
    pick_contexts,
    pick_projection,
)
from core.screens.atlas.wording import MATHEMATICS, headline
from core.ui import presets
from core.ui.cache import first_model
from core.ui.current import suggest_head
from core.ui.frame.layout import control_row, more, pick_part, show_end
from core.ui.place import pick_head

images = shows_images()
query = draw_search(images=images)
with control_row():
    part = pick_part(menu=True, width=170)
    # Its options depend on the atlas, which depends on the settings behind "More".
    own = st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content")
    settings = more()
with settings:
    picked, budget = pick_corpus()
with st.container():  # one place, whatever its length: what moves down the page is redrawn
    entry = first_entry(picked, budget) or open_entry(picked, budget, settings)
atlas, source = entry.atlas, entry.source
suggest_head(atlas.model)
with own:
    layer, head = pick_head(atlas)
with settings:
    projection, stage = pick_projection(atlas)
    colour = pick_colour(atlas)
    contexts = part == "one" and not images and pick_contexts()
    found = find_tokens(source, query)
search = None if isinstance(found, str) else found
screen = Screen(entry, atlas, layer, head, projection, stage, colour, search, contexts)
if answer := headline(atlas, stage, (layer, head) if part == "one" else None):
    set_headline(answer, "Press a head to enlarge it." if part == "heads" else "")
presets.show(lambda: examples_for(entry))
with st.container():
    show_result(found, source)

if part == "heads":
    show_matrix(screen)
else:
    from core.screens.atlas.head.single import show_head_cloud  # only single heads need statistics

    show_head_cloud(screen)
if first_model.is_awaited():
    show_until_made()
else:
    st.caption(describe_atlas(entry))
show_end(MATHEMATICS)
