"""Which pattern each head follows: a map, a table, the evidence, and similar heads."""

import streamlit as st

from core.ui.navigation import open_page

open_page("patterns")

from functools import partial

from core.figures.palette import palette
from core.analysis.head_patterns.naming import THRESHOLDS
from core.ui import controls, presets
from core.ui.current import current_key, current_trace
from core.ui.frame.layout import control_row, more, show_terms
from core.ui.words.references import show_references
from core.screens.patterns.corpus import show_cancelled
from core.screens.patterns.help import examples, mathematics
from core.screens.patterns.one_head import pick_view, show_one
from core.screens.patterns.overview import pick_colouring, show_overview
from core.screens.patterns.pronouns import pick_marked, show_pronouns
from core.screens.patterns.similar import show_similar
from core.screens.patterns.view import measure_view, pick_thresholds
from core.screens.patterns.wording import show_limits
from core.ui.corpus_walk import pick_source
from core.ui.selectors import pick_part, step_through_heads

PARTS = {
    "heads": "All heads",
    "one": "One head",
    "alike": "Similar heads",
    "pronouns": "Coreference",
}
OF_IMAGES = {name: title for name, title in PARTS.items() if name != "pronouns"}  # has no nouns

trace = current_trace(cross=True)
theme = st.context.theme.type
colours = palette(theme)
source, thresholds = "text", dict(THRESHOLDS)

with control_row():
    part = pick_part(PARTS if trace.patches is None else OF_IMAGES)
    if part == "one":
        layer, head = controls.layer(trace, width=105), controls.head(trace, width=105)
        step_through_heads(trace)
    elif part == "pronouns":  # marked in built-in sentences only
        marked = pick_marked()
    else:
        source = pick_source(trace)
    if part == "heads":
        score = pick_colouring(trace)
    settings = more()
with settings:
    if part == "one":
        source = pick_source(trace)
        whole, beside = pick_view(trace)
    else:  # elsewhere a click in the picture chooses the head
        layer, head = controls.layer(trace), controls.head(trace)
    if part != "pronouns":
        thresholds = pick_thresholds(trace, drawn=part in ("heads", "alike"))

view = measure_view(trace, current_key(trace.model), source, layer, head, thresholds)
presets.show("patterns", partial(examples, view))
if part == "heads":
    show_overview(view, score, colours, theme)
elif part == "one":
    show_one(view, whole, beside, settings, colours)
elif part == "alike":
    show_similar(view, colours, theme)
else:
    show_pronouns(view, marked, colours)
if part != "pronouns":
    show_limits(trace)
    if source == "text":
        show_cancelled(trace.model)
show_terms("head", "head pattern", "uniform baseline", "query", "key", "[CLS]")
presets.show_mathematics(mathematics(trace))
show_references("patterns")
