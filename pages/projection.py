"""Whether two tokens attend alike, and whether one attends to the other, layer by layer."""

import streamlit as st

from core.ui.charts import show_chart
from core.ui.navigation import open_page

open_page("projection")

from core.vocabulary import labels_of
from core.analysis.pair_projection import project_pair
from core.figures.palette import palette
from core.figures.projection import layers_figure
from core.ui import controls, presets
from core.ui.current import current_trace, found_head
from core.ui.downloads import contents, offer_csv
from core.ui.frame.layout import control_row, pick_part, show_end
from core.ui.head_maps import gaps_note
from core.ui.words.messages import quote
from core.ui.navigation import ask
from core.screens.projection.help import (
    MATHEMATICS,
    examples,
    explain,
    headline,
    questions,
    show_badge,
    show_linking_heads,
    show_projections,
)
from core.ui.selectors import pick_token

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
presets.show(examples)
with st.spinner("Reducing every layer to a plane …"):
    projection = project_pair(trace, a, b)
ask(headline(part, projection, *quoted))
figure = layers_figure(projection, names, questions(*names), colours, attention_first=part == "to")
show_chart(figure, key="projection_layers", alt=" ".join(questions(*names)))
held = contents("projection", trace.model, "-on-".join(names))
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(f"{explain(part, *quoted)} {gaps_note(trace)}", width="stretch")
    show_badge(part, projection, *quoted)
    offer_csv(projection.frame, held, index=False, float_format="%.6f")

if part == "like":
    show_projections(projection, names, colours, held)
else:
    show_linking_heads(trace, projection, names, colours)
show_end(MATHEMATICS)
