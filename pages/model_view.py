"""All heads of all layers at once."""

import streamlit as st

from core.ui.navigation import open_page

open_page("model_view")

from functools import partial

from core.analysis.head_patterns.similarity import ORDERS, order_heads
from core.analysis.model_map import model_map
from core.components.export import standalone_page
from core.components.model_view import Look, show_model_view, view_data
from core.ui import controls, presets
from core.ui.current import current_key, current_trace
from core.ui.downloads import offer_file
from core.ui.selectors import pick_pairs
from core.screens.model_view.help import (
    COLOUR_NAMES,
    CROSS_PAIR_NAMES,
    PAIR_HELP,
    PAIR_NAMES,
    SORTED,
    STYLES,
    examples,
    explain,
    file_title,
    hidden,
    hide_heads,
    mathematics,
)
from core.screens.model_view.patterns import highlight, highlights

trace = current_trace(cross=True)
heads = trace.shape[1]

with st.container(horizontal=True, vertical_alignment="bottom"):
    style = controls.choice("style", STYLES, "Draw heads as", subject="Heads are drawn as")
    colour = controls.choice("colour", COLOUR_NAMES, "Colour by", subject="The colours are by")
    sort = controls.choice(
        "sort",
        ORDERS,
        "Sort heads by",
        subject="Heads are sorted by",
        help="Entropy: from the most focused head to the broadest. Similarity: heads that attend"
        " similarly stand side by side.",
    )
    pairs = pick_pairs(
        trace,
        "Pairs",
        names=(PAIR_NAMES if trace.source is None else CROSS_PAIR_NAMES).__getitem__,
        help=f"A is the first sentence, B the second; {PAIR_HELP[trace.source is not None]}.",
    )
    hide = controls.flag("hide", "Hide special tokens")
    renormalise = controls.flag(
        "renorm",
        "Renormalise",
        disabled=not hide and pairs == "all",
        help="Divide each row by its sum over the tokens shown.",
    )
pattern = controls.choice(
    "pattern",
    highlights(trace),
    "Highlight heads that attend, on this text, to",
    subject="What can be highlighted is",
)
off_layers = hidden("off_layers", trace.numbers, "layer")
off_heads = hidden("off_heads", range(1, heads + 1), "head")

with st.spinner("Drawing every head …"):
    shown = model_map(trace, pairs=pairs, hide_special=hide, renormalise=renormalise)
    order = order_heads(trace, sort)
if shown is None:
    st.info("No token of this text is left: show special tokens, or other pairs of sentences.")
    controls.end_page()
marks = highlight(trace, pattern, current_key(trace.model))
look = Look(style, colour, SORTED[sort], off_layers, off_heads)
data = view_data(shown, trace, order, look, marks)
opened = show_model_view(data, key="model_view", on_hide=partial(hide_heads, trace.numbers))
if opened is not None:
    st.session_state.update(layer=str(trace.numbers[opened[0]]), heads=[opened[1] + 1])
    st.switch_page("pages/head_view.py")
title = file_title(trace, st.session_state["text"])  # it is written outside the session
note = explain(shown, trace, look, hidden_special=hide, renormalised=renormalise)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(note, width="stretch")
    offer_file(
        "Save as HTML",
        partial(standalone_page, "model_view", data, title, note),
        "model_view.html",
        help="One file that opens without internet and keeps the hover.",
    )
presets.show("model_view", partial(examples, trace))
presets.show_mathematics(mathematics(is_cross=trace.source is not None))
