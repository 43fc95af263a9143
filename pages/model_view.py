"""All heads of all layers at once."""

import streamlit as st

from core.ui.navigation import set_headline, redirect_to, open_page

words = open_page("model_view")

from functools import partial

from core.analysis.model_map import model_map
from core.components.export import standalone_page
from core.components.model_view import (
    MAX_ENLARGED_LINES,
    MAX_LINES,
    Appearance,
    show_model_view,
    view_data,
)
from core.ui import controls, place, presets
from core.ui.current import current_trace
from core.ui.downloads import contents, offer_page
from core.ui.frame.layout import caption_row, control_row, more, show_end
from core.ui.heads import gaps_note
from core.ui.place import pick_pairs
from core.ui.words.labels import hide_special
from core.ui.words.pattern_words import highlight_names
from core.screens.model_view import STYLES, headline, highlight, pair_names
from core.vocabulary import head_name

trace = current_trace()
current = place.layer(trace), place.head(trace)

with control_row():
    style = controls.choice("style", STYLES, "Draw heads as", subject="Heads are drawn as")
    pattern = controls.choice(
        "pattern",
        highlight_names(trace),
        "Highlight heads that attend to",
        subject="What can be highlighted is",
        menu=True,
        width=230,
        help=f"Judged on {trace.input.this} alone.",
    )
    pairs = pick_pairs(trace, "Pairs", names=pair_names(trace), help=words("pairs"))
    with more():
        hide = controls.flag("hide", hide_special(trace))
presets.show_for(trace)

shown = model_map(trace, pairs=pairs, hide_special=hide)
if shown is None:
    st.info("No token of this text is left: show special tokens, or other pairs of sentences.")
    controls.end_page()
if answer := headline(trace):
    set_headline(answer, "Press a head to enlarge it.", tokens=len(trace.tokens))
look = Appearance(style, current)
export = contents("model-view", trace.model, "")
data = view_data(shown, trace, look, highlight(trace, pattern), export.titled("All heads"))
opened = show_model_view(data, *trace.shape[:2], key="model_view")
if opened is not None:
    controls.pick(
        layer=str(trace.layer_labels[opened[0]]), head=str(opened[1] + 1), heads=[opened[1] + 1]
    )
    redirect_to("head_view")
title = f"{trace.model}: {export.about}"
layers, heads, rows, columns = shown.tiles.shape
note = words(
    "reading",
    layers=layers,
    heads=heads,
    size=f"{len(shown.rows)} × {len(shown.columns)}",
    held=head_name(trace, *current),
    silent=gaps_note(trace),
    tiles=style == "tiles",
    pairs=rows * columns,
    drawn=MAX_LINES,
    enlarged=min(MAX_ENLARGED_LINES, rows * columns),
    block=shown.block,
    hidden=hide and sum(token.special for token in (*trace.tokens, *(trace.source or ()))),
)
with caption_row(note):
    page = partial(standalone_page, "model_view", data, title, note, facts=export.facts)
    offer_page(page, export)
show_end()
