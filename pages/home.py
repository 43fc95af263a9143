"""What this is, the current sentence as tokens, and one picture of real attention."""

import streamlit as st

from core.ui.navigation import open_page

open_page("home")

from core.analysis.layers import head_name
from core.analysis.strongest_link import arcs_around, strongest_link
from core.components.chips import show_chips
from core.figures.links import links_figure
from core.figures.palette import palette
from core.ui.current import current_trace
from core.ui.messages import quote
from core.ui.navigation import PAGES
from core.screens.home.expected import show_expected
from core.screens.home.structure import show_structure

st.markdown(
    "A transformer reads a sentence by letting every token look at others; how much it looks is"
    " called **attention**. Here you see that attention as the model computes it, for your own"
    " words and the model you pick. Every page says how to read its picture and how far to trust"
    " it."
)
trace = current_trace()
colours = palette(st.context.theme.type)
link = strongest_link(trace)
apart = " that are not neighbours" if link is not None else ""
link = link or strongest_link(trace, min_distance=1)

st.subheader("One head at work", anchor=False)
if link is None:
    st.info("No two different words of this text are linked: type a longer sentence.")
else:
    query, key = (quote(trace.tokens[i].display) for i in (link.query, link.key))
    st.markdown(
        f"Layer {trace.numbers[link.layer]}, head {link.head + 1} gives **{link.weight:.2f}** of"
        f" {query}'s attention to {key}: the strongest link in any of the"
        f" {trace.shape[0] * trace.shape[1]} heads between two different words{apart}."
    )
    arcs = arcs_around(trace, link)
    figure = links_figure(arcs, colours)
    st.plotly_chart(figure, key="home_arcs", config={"displayModeBar": False})
    rest = f" {arcs.left_out} more tokens do not fit here." if arcs.left_out else ""
    st.caption(
        "Each arc joins a token to the other token shown that it attends to most in"
        f" {head_name(trace, link.layer, link.head)}; thicker arcs are stronger. Special tokens are"
        f" left out.{rest}"
    )

show_expected(trace, colours)

st.subheader("Your sentence as the model gets it", anchor=False)
show_chips(trace.tokens, key="home_chips")
st.caption(
    f"{len(trace.tokens)} tokens with their numbers in the vocabulary. Pieces of one word touch;"
    " dashed tokens are special: they mark where a text begins or ends."
)
show_structure(trace, colours)
st.subheader("Pages", anchor=False)
with st.container(horizontal=True):
    for page in PAGES[1:]:  # home is the first
        with st.container(border=True, width=320):
            st.page_link(page.path, label=f"**{page.title}**")
            st.markdown(page.question)
