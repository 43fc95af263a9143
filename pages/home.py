"""What Headscope is, one live picture of real attention, and the current sentence as tokens."""

import streamlit as st

from core.ui.navigation import open_page

open_page("home")

from core.components.chips import show_chips
from core.figures.palette import palette
from core.ui.current import current_trace
from core.ui.frame.layout import show_end
from core.screens.home import show_doors, show_picture
from core.screens.home.expected import show_expected
from core.screens.home.structure import notes_on_reach, show_structure

trace = current_trace()
show_picture(trace)
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
