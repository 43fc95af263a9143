"""Whether the attention of a head matters: what changes when the head is replaced."""

import streamlit as st

from core.ui.navigation import open_page

open_page("effect")

from functools import partial

from core.figures.palette import palette
from core.ui import presets
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, more, pick_part, show_end
from core.screens.heads import effects
from core.screens.heads.ablation import pick_away, show_away
from core.screens.heads.effect import MATHEMATICS, add_chance, examples, show_effects, show_first
from core.screens.heads.effects_corpus import CorpusRun, measure_corpus, pick_over, show_corpus
from core.screens.heads.measured import measure as measure_heads
from core.screens.heads.paths import show_origin
from core.screens.heads.contributions import pick_sum, show_writes
from core.ui.place import pick_head

row = control_row()
first = show_first()
trace = current_trace()
key, colours = current_key(trace.model), palette(st.context.theme.type)
first.empty()
measure_next = None  # runs once the page is drawn
with row:
    part = pick_part(menu=True, width=180)
if part == "paths":
    show_origin(trace)
elif show_unread(trace, "A sentence whose heads are replaced"):
    pass
elif part == "away":
    with row:
        picked = pick_away(effects.measured_trace(trace, key), key)
    show_away(trace, picked, key, colours)
elif part == "writes":
    with row:
        layer, head = pick_head(trace)
        with more():
            measure = pick_sum(key)
    show_writes(trace, key, measure, layer, head, colours)
else:
    with row:
        layer, head = pick_head(trace)
        over_corpus = pick_over(key)
        with more():
            replace = effects.pick_replacement(key)
            measure = effects.pick_outcome(key)
    if over_corpus:
        corpus = CorpusRun(key, replace, measure)
        table = measure_corpus(trace, corpus, layer, head)
        presets.show(partial(examples, table))
        measure_next = show_corpus(table, corpus, colours)
    else:
        measured = measure_heads(trace, key, "text", layer, head)
        heads, found = effects.with_effects(measured, replace, measure)
        presets.show(partial(examples, heads))
        measure_next = partial(add_chance, show_effects(heads, found, colours), heads, found)
show_end(MATHEMATICS)
if measure_next is not None:
    measure_next()
