"""All heads by their effect, and what is known of the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.effect import largest_effect
from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.figures.palette import Palette
from core.model.interventions.heads import SINGLE_DRAWS
from core.screens.effect import input as given
from core.screens.effect.measuring import (
    effects_of_head,
    leaders_of,
    measured_effects,
    notes,
)
from core.screens.effect.methods import show_methods
from core.screens.effect.writing import direct_of_head
from core.ui import controls
from core.ui.downloads import Contents, contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, names_of, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.presets import Preset
from core.ui.words.labels import MEASURED, replacements_of
from core.ui.words.numbers import in_a_row, number
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects
    from core.ui.cache import TraceKey

SHORT = 50  # tokens: what is found on fewer is a hint
_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def examples(heads: HeadTable) -> list[Preset]:
    """The head of largest effect."""
    first = largest_effect(heads.table)
    if first is None:
        return []
    place = {name: str(first[name]) for name in ("layer", "head")}
    return [Preset("Largest effect", _words("largest"), place)]


def show_heads(heads: HeadTable, found: Effects, key: TraceKey, colours: Palette) -> DeltaGenerator:
    """The answer, the map, the card of the chosen head; then the table and the file.

    Of the effects alone, where what chance does is not measured yet: `compare` does that, in the
    place that this gives.
    """
    leaders = leaders_of(heads.trace, key, found.replace, found.measure)
    ask(headline(heads, found, leaders))
    held = contents("effect", heads.trace.model, "")
    caption = " ".join([_caption(heads.table, found), *notes(heads.trace, found)])
    card = partial(_show_card, heads, found, key)
    place = show_measured(heads, held, colours, caption, card, compared=len(found.draws) > 0)
    show_methods()
    return place


def show_measured(
    heads: HeadTable,
    held: Contents,
    colours: Palette,
    caption: str,
    card: Callable[[], object],
    *,
    compared: bool,
) -> DeltaGenerator:
    """The map, with a dot for heads beyond chance if that is known; the card, table and file.

    Gives a place below the map.
    """
    left, right = st.columns([5, 4], gap="medium")
    with left:
        show_head_map(
            heads.trace,
            heads.grid("effect"),
            f"effect on the {MEASURED[heads.table.attrs['measure']]}",
            colours,
            key="effect_map",
            on_open=choose_head,
            chosen=(heads.layer, heads.head),
            title=heads.table.attrs["unit"],
            large=True,
            beyond=heads.grid("exceeds") if compared else None,
        )
        if caption:
            st.caption(caption)
    with right, st.container(border=True):
        card()
    place = st.empty()
    with st.container(horizontal=True):
        offer_table(heads, held)
    with st.expander("Every head"):
        st.dataframe(heads.table, hide_index=True, height=420)
    return place


def compare(place: DeltaGenerator, heads: HeadTable, found: Effects, key: TraceKey) -> None:
    """Measure what chance does, unless that is drawn, and draw it in the same picture."""
    if len(found.draws):
        return
    controls.publish()
    with place.container():
        leaders = leaders_of(heads.trace, key, found.replace, found.measure, waits=True)
        ask(headline(heads, found, leaders))
        measured_effects(key, found.replace, found.measure)
    st.rerun()


def headline(heads: HeadTable, found: Effects, leaders: pd.DataFrame | None) -> str:
    """Whether a head matters on this text, and how much that can bear (Markdown)."""
    rows = heads.table if leaders is None else leaders
    passing = rows[:0] if leaders is None else leaders[leaders["matters"]]
    first = largest_effect(passing if len(passing) else rows)
    if first is None:
        raise AssertionError  # a model without heads has no such page
    facts = {
        "head": f"L{first['layer']} H{first['head']}",
        "modality": heads.trace.input.modality,
        "effect": number(first["effect"], ".3g"),
        "measured": MEASURED[found.measure],
        "unit": found.unit,
    }
    if leaders is None:
        return _words("comparing", facts=facts)
    tokens = min(len(heads.trace.tokens), given.MAX_TOKENS)
    return _words(
        "headline",
        facts=facts,
        matter=in_a_row(names_of(passing).tolist()),
        count=len(passing),
        tokens=tokens if tokens < SHORT and heads.trace.input.has_words else 0,
        low=number(first["low"], ".3g"),
        high=number(first["high"], ".3g"),
        draws=leaders.attrs["draws"],
    )


def _caption(table: pd.DataFrame, found: Effects) -> str:
    if not len(found.draws):
        return _words("squares")
    return _words(
        "dots", beyond=int(table["exceeds"].sum()), total=len(table), draws=len(found.draws)
    )


def _show_card(heads: HeadTable, found: Effects, key: TraceKey) -> None:
    """What it looks like, how much it writes, whether it is needed, each beside its control."""
    row, replaced, measure = heads.row, replacements_of(key.modality), found.measure
    ways = {name: effects_of_head(key, name, measure, heads.layer, heads.head) for name in replaced}
    verdict = _words(
        "verdict",
        head=heads.name,
        pattern=pattern_names(heads.trace)[row["pattern"]],
        named=row["pattern"] not in (NONE, TOO_SHORT),
        share=row.get("share"),
        needed=all(abs(effect) > control for effect, control in ways.values()),
    )
    st.markdown(verdict, help=_words("rule", draws=SINGLE_DRAWS))
    rows = ["| replaced by | effect | random directions | alone |", "|:--|--:|--:|--:|"]
    for name, (effect, control) in ways.items():
        alone = direct_of_head(key, name, measure, heads.layer, heads.head)
        rows.append(
            f"| {replaced[name]} | {_marked(effect, control)} | ≤ {number(control, '.3g')}"
            f" | {number(alone, '.3g', missing='–')} |"
        )
    st.markdown("\n".join(rows))
    others = number(row["others"], ".3g", missing="–")
    facts = {"measured": MEASURED[measure], "unit": found.unit, "draws": SINGLE_DRAWS}
    st.caption(_words("ways", others=others, replaced=replaced[found.replace], facts=facts))


def _marked(effect: float, control: float) -> str:
    """The effect, in bold where it is larger than its control."""
    text = number(effect, ".3g")
    return f"**{text}**" if abs(effect) > control else text
