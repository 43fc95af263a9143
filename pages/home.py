"""What this is, the current sentence as tokens, and one picture of real attention."""

import streamlit as st

from core.ui.charts import show_chart
from core.ui.navigation import open_page

open_page("home")

from core.analysis.found_link import find_link
from core.vocabulary import head_name
from core.analysis.strongest_link import arcs_around
from core.components.chips import show_chips
from core.figures.links import links_figure
from core.figures.palette import palette
from core.ui import python
from core.ui.current import current_trace, found_head
from core.ui.frame.layout import show_terms
from core.ui.words.pages import PAGES
from core.ui.words.references import show_references
from core.screens.home.claim import beyond_position, describe, offer_head
from core.screens.home.expected import show_expected
from core.screens.home.cards import show_attention_cards
from core.screens.home.structure import notes_on_reach, show_structure

trace = current_trace()
colours = palette(st.context.theme.type)
link = python.made("link", found_head(trace), python.call(find_link, trace))

left, right = st.columns([6, 1], vertical_alignment="center")
left.markdown(describe(trace, link))
if link is not None:
    with right:
        offer_head(trace, link)
    arcs = python.shown("arcs", arcs_around, trace, link)
    figure = links_figure(arcs, colours)
    show_chart(figure, key="home_arcs", alt="Arcs of attention", quiet=True)
    show_attention_cards(trace, link)
    rest = f" {arcs.left_out} more tokens do not fit here." if arcs.left_out else ""
    st.caption(
        "Each arc joins a token to the other token shown that it attends to most in"
        f" {head_name(trace, link.layer, link.head)}; thicker arcs are stronger. Special tokens are"
        f" left out. {beyond_position(trace, link)}{rest}"
    )
show_terms(notes_on_reach(trace))

show_expected(trace, colours)

st.header("Your sentence as the model gets it", anchor=False)
show_chips(trace.tokens, key="home_chips")
st.caption(
    f"{len(trace.tokens)} tokens with their numbers in the vocabulary. Pieces of one word touch;"
    " dashed tokens are special: they mark where a text begins or ends."
)
show_structure(trace, colours)
st.header("Pages", anchor=False)
with st.container(horizontal=True):
    for page in PAGES[1:]:  # home is the first
        with st.container(border=True, width=320):
            st.page_link(page.path, label=f"**{page.title}**")
            st.markdown(page.question)
show_references()
