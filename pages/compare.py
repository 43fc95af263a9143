"""Two texts, or two models, side by side: which heads differ by more than paraphrases do."""

import streamlit as st

from core.ui.navigation import open_page

words = open_page("compare")

from core.analysis.compare.noise_floor import FLOOR_RATE
from core.analysis.effect.table import MIN_SHARE
from core.model import ModelError
from core.screens.compare.exchange import show_carriers
from core.screens.compare.measured import compare, pick_other
from core.screens.compare.picture import show_all_heads, show_answer, show_picture
from core.ui import controls, presets
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, show_end
from core.ui.place import pick_head
from core.ui.words.messages import show_model_error
from core.vocabulary import percent

trace = current_trace()
key = current_key(trace.model)
row = control_row()
found = None
with row:
    model_b, text_b, lines = pick_other()
try:
    if not (model_b and show_unread(trace)):
        found = compare(key, model_b, text_b, lines)
except ModelError as error:
    show_model_error(error)
if found is not None:
    layer, head = found.largest
    controls.suggest((trace.layer_labels[layer], head + 1))
with row:
    layer, head = pick_head(trace)
presets.show_for(trace)
if found is None:
    st.info(words("hint"))
    controls.end_page()
show_answer(found)
show_picture(found, layer, head, len(trace.tokens))
show_carriers(found, key, text_b)
show_all_heads(found, layer, head)
show_end(words("mathematics", rate=percent(FLOOR_RATE), least=percent(MIN_SHARE)))
