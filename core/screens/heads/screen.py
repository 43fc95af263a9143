"""Shared by the pages about heads: a map beside a card; then the file, the table, the scatter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.figures.heads import head_scatter
from core.figures.palette import Palette
from core.figures.patterns import pattern_looks
from core.screens.heads.effects import TITLES
from core.screens.heads.measured import Heads
from core.ui import address, controls
from core.ui.cache import first_model
from core.ui.downloads import Contents
from core.ui.heads import HeadTable, show_head_map, show_head_table, show_heads
from core.ui.heads import show_overview as show_beside
from core.ui.place import choose_head
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names, score_words
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_words = Prose(__file__)
_COLUMNS = {"class": "pattern", "confidence": "above threshold", "stability": "stability"}
_IN_FILE = ("layer", "head", "_uniform", "_low", "_high")  # endings of file-only columns
_NOT_PICKED = "–"


def show_overview(
    heads: Heads,
    colours: Palette,
    export: Contents,
    draw_map: Callable[[], object],
    card: Callable[[], object],
    *,
    border: bool = True,
) -> DeltaGenerator:
    """Draw the map, the card, and all below them; returns the place below the map and card."""
    place = show_beside(heads, export, draw_map, card, border=border)
    with st.expander("Every measure of every head"):
        first_model.when_loaded(partial(_show_table, heads))
    picked = bool(address.asks_for("x") or st.session_state.get("x"))
    with st.expander("Any two measures", expanded=picked):
        _show_scatter(heads, colours)
    return place


def show_effect_map(
    heads: HeadTable,
    colours: Palette,
    caption: str,
    *,
    compared: bool,
    chosen: bool = True,
    key: str = "effect_map",
) -> None:
    """The map of effects, with a dot on heads beyond chance if that is measured."""
    show_head_map(
        heads.trace,
        heads.grid("effect"),
        f"effect on the {TITLES[heads.table.attrs['measure']]}",
        colours,
        key=key,
        on_open=choose_head,
        chosen=(heads.layer, heads.head) if chosen else None,
        title=heads.table.attrs["unit"],
        large=True,
        beyond=heads.grid("exceeds") if compared else None,
    )
    if caption:
        st.caption(caption)


def show_numbers(heads: Heads, words: str = "") -> None:
    """A button for a popover with `words` (Markdown) and all measures of the chosen head."""
    rows = ["| measure | value |", "|:--|--:|"]
    for name, measure in heads.measures.items():
        rows.append(f"| {measure.title} | {number(heads.row[name], '.3g', missing='–')} |")
    with st.popover(f"More of {heads.name}", type="tertiary", width="content"):
        st.markdown(f"{words}\n\n" + "\n".join(rows))


def _show_table(heads: Heads) -> None:
    names = pattern_names(heads.trace)
    table = heads.table.assign(**{"class": heads.table["class"].map(names)})
    short = {name: each.short for name, each in score_words(heads.trace).items()}
    measured = {name: short.get(name, each.title) for name, each in heads.measures.items()}
    titles = _COLUMNS | measured | {"sink_token": "sink"}
    others = [each for each in map(str, table) if not each.endswith(_IN_FILE)]
    titles |= {name: name.replace("_", " ") for name in others if name not in titles}
    rows = Heads(**{**vars(heads), "table": table})
    show_head_table(rows, titles, key="heads_table", on_open=choose_head)
    st.caption(_words("table", stability="stability" in table))


def _show_scatter(heads: Heads, colours: Palette) -> None:
    """A scatter plot of heads by two measures, coloured by pattern; a click chooses a head."""
    titles = {"": _NOT_PICKED} | {name: each.title for name, each in heads.measures.items()}
    with st.container(horizontal=True):
        x, y = (
            controls.choice(
                key, titles, label, subject="Measures are", menu=True, width=260, optional=True
            )
            for key, label in (("x", "Across"), ("y", "Up"))
        )
    if not (x and y):
        return
    points = np.stack([heads.grid(name).ravel().astype(np.float64) for name in (x, y)], axis=1)
    looks = pattern_looks(pattern_names(heads.trace), st.context.theme.type, colours)
    figure = head_scatter(
        points,
        heads.trace.layer_labels,
        heads.table["class"].tolist(),
        heads.number,
        looks,
        colours,
        (titles[x], titles[y]),
    )
    alt = f"{titles[y]} against {titles[x]}, a point per head"
    show_heads(figure, alt, key="heads_scatter", on_open=choose_head)
