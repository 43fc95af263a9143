"""What this is, one living picture of real attention, and the current sentence as tokens."""

import streamlit as st

from core.ui.navigation import open_page

open_page("home")

from core.analysis.found_link import find_link
from core.components.chips import show_chips
from core.figures.palette import palette
from core.ui import python
from core.ui.current import current_trace, found_head
from core.ui.frame.layout import show_end
from core.screens.home.claim import about_arcs, one_word
from core.screens.home.doors import show_doors
from core.screens.home.expected import show_expected
from core.screens.home.picture import show_picture
from core.screens.home.structure import notes_on_reach, show_structure

trace = current_trace()
link = python.made("link", found_head(trace), python.call(find_link, trace))

if link is None:
    st.markdown(one_word())
else:
    missing = show_picture(trace, link)
    st.caption(about_arcs(trace, link, missing))
show_doors()

show_expected(trace)

st.header("Your sentence as the model gets it", anchor=False)
show_chips(trace.tokens, key="home_chips")
st.caption(
    f"{len(trace.tokens)} tokens with their numbers in the vocabulary. Pieces of one word touch;"
    " dashed tokens are special: they mark where a text begins or ends."
)
show_structure(trace, palette(st.context.theme.type))
show_end(notes=notes_on_reach(trace))
