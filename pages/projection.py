"""Whether two tokens have similar attention, and whether one attends to the other, by layer."""

import streamlit as st

from core.ui.charts import show_chart
from core.ui.navigation import open_page

words = open_page("projection")

from core.vocabulary import labels_of
from core.analysis.pair_projection import SAME_WAY, project_pair
from core.figures.palette import palette
from core.figures.projection import layers_figure
from core.ui import controls, presets
from core.ui.current import current_trace, found_head
from core.ui.downloads import contents, offer_csv
from core.ui.frame.layout import caption_row, control_row, pick_part, show_end
from core.ui.heads import gaps_note
from core.ui.words.messages import quote
from core.ui.navigation import set_headline
from core.screens.projection import (
    headline,
    show_badge,
    show_linking_heads,
    show_projections,
)
from core.ui.place import pick_token

trace = current_trace()
colours = palette(st.context.theme.type)
link = found_head(trace)
if link is None:
    st.info("This page compares two tokens: type a sentence with two different words.")
    controls.end_page()

labels = labels_of(trace.tokens)
with control_row():
    a = pick_token("Does …", "a", trace, labels, link.query)
    part = pick_part()
    b = pick_token("… this token?", "b", trace, labels, link.key)
names = labels[a], labels[b]
quoted = quote(names[0]), quote(names[1])
presets.show_for(trace)
with st.spinner("Reducing every layer to a plane …"):
    projection = project_pair(trace, a, b)
set_headline(headline(part, projection, *quoted))
a_name, b_name = names
questions = (
    f"Do {a_name} and {b_name} attend to the same words?",
    f"Does {a_name} attend to {b_name}?",
)
figure = layers_figure(projection, names, questions, colours, attention_first=part == "to")
show_chart(figure, key="projection_layers", alt=" ".join(questions))
export = contents("projection", trace.model, "-on-".join(names))
reading = words("explanation", part=part, a=quoted[0], b=quoted[1], same_way=SAME_WAY)
with caption_row(f"{reading} {gaps_note(trace)}"):
    show_badge(part, projection, *quoted)
    offer_csv(projection.frame, export, index=False, float_format="%.6f")

if part == "like":
    show_projections(projection, names, colours, export)
else:
    show_linking_heads(trace, projection, names, colours)
show_end()
