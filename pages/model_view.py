"""All heads of all layers at once."""

import streamlit as st

from core.ui.navigation import open_page

open_page("model_view")

from functools import partial

from core.analysis.attention_table import unique_labels
from core.analysis.head_patterns.order import ORDERS, order_heads
from core.analysis.model_map import PAIR_FILTERS, model_map
from core.components.model_view import Look, model_view_page, show_model_view, view_data
from core.ui import address
from core.ui.current import current_key, current_trace
from core.ui.pattern_words import HIGHLIGHT_NAMES
from core.screens.model_view.help import (
    COLOUR_NAMES,
    PAIR_NAMES,
    SORTED,
    STYLES,
    explain,
    hide_heads,
    restore_hidden,
    show_mathematics,
    show_presets,
)
from core.screens.model_view.patterns import look_for

trace = current_trace()
layers, heads = trace.shape[:2]
two = any(token.segment == 1 for token in trace.tokens)

address.restore_choice("style", STYLES, "lines", "Heads are drawn as")
address.restore_choice("colour", list(COLOUR_NAMES), "layer", "The colours are by")
address.restore_choice("sort", ORDERS, "number", "Heads are sorted by")
sentences = "The pairs are" if two else "With one sentence the pairs are"
address.restore_choice("filter", PAIR_FILTERS if two else ["all"], "all", sentences)
address.restore_choice("pattern", list(HIGHLIGHT_NAMES), "none", "What can be looked for is")
address.restore_flag("hide")
address.restore_flag("renorm")
restore_hidden(layers, heads)

with st.container(horizontal=True, vertical_alignment="bottom"):
    style = st.segmented_control(
        "Draw heads as", STYLES, key="style", required=True, persist_state="session"
    )
    colour = st.segmented_control(
        "Colour by",
        list(COLOUR_NAMES),
        format_func=COLOUR_NAMES.get,
        key="colour",
        required=True,
        persist_state="session",
    )
    sort = st.segmented_control(
        "Sort heads by",
        ORDERS,
        key="sort",
        required=True,
        persist_state="session",
        help="Entropy: from the most focused head to the broadest. Similarity: heads that attend"
        " alike stand beside each other.",
    )
    if two:
        pairs = st.segmented_control(
            "Pairs",
            PAIR_FILTERS,
            format_func=PAIR_NAMES.get,
            key="filter",
            required=True,
            persist_state="session",
            help="A is the first sentence, B the second; A → B is A attending to B.",
        )
    else:
        pairs = "all"
    hide = st.toggle("Hide special tokens", key="hide", persist_state="session")
    partly = hide or pairs != "all"
    renormalise = st.toggle(
        "Renormalise",
        key="renorm",
        persist_state="session",
        disabled=not partly,
        help="Divide each row by what is left of it once tokens are left out.",
    )
pattern = st.segmented_control(
    "Highlight heads that attend, on this text, to",
    list(HIGHLIGHT_NAMES),
    format_func=HIGHLIGHT_NAMES.get,
    key="pattern",
    required=True,
    persist_state="session",
)
working = (*(("filter",) if two else ()), *(("renorm",) if partly else ()))
off = [key for key in ("off_layers", "off_heads") if st.session_state[key]]
address.publish("style", "colour", "sort", "hide", "pattern", *working, *off)

with st.spinner("Drawing every head …"):
    shown = model_map(trace, pairs=pairs, hide_special=hide, renormalise=renormalise and partly)
    order = order_heads(trace, sort)
if shown is None:
    st.info("No token is left of this text: show special tokens, or another pair of sentences.")
    st.stop()
marks = look_for(trace, pattern, current_key(trace.model))
look = Look(
    style,
    colour,
    SORTED[sort],
    [number - 1 for number in st.session_state["off_layers"]],
    [number - 1 for number in st.session_state["off_heads"]],
)
labels = unique_labels(tuple(token.display for token in trace.tokens))
segments = [token.segment for token in trace.tokens]
data = view_data(shown, labels, segments, order, look, marks)
opened = show_model_view(data, key="model_view", on_hide=hide_heads)
if opened is not None:
    st.session_state.update(layer=str(opened[0] + 1), heads=[opened[1] + 1])
    st.switch_page("pages/head_view.py")
title = f"{trace.model}: {st.session_state['text']}"  # the file is written outside the session
note = explain(shown, trace, look, hidden_special=hide, renormalised=renormalise and partly)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(note, width="stretch")
    st.download_button(
        "Save as HTML",
        partial(model_view_page, data, title, note),
        file_name="model_view.html",
        mime="text/html",
        on_click="ignore",
        help="One file that opens without internet and keeps the hover.",
    )
show_presets()
show_mathematics()
