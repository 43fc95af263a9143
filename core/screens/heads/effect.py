"""The page on whether heads matter: what changes when each one is replaced."""

from __future__ import annotations

import math
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.effect import effect_table, largest_effect, leading_table
from core.figures.palette import Palette, palette
from core.model.bundled.first import SENTENCE
from core.model.interventions.heads import SINGLE_DRAWS
from core.screens.heads import effects
from core.screens.heads.card import describe_head
from core.screens.heads.effects import (
    TITLES,
    Step,
    effects_of_head,
    followed,
    leaders_of,
    measured_effects,
    notes,
    replacements_of,
    shipped_effects,
)
from core.screens.heads.measured import Heads
from core.screens.heads.screen import show_effect_map, show_numbers, show_overview
from core.ui import controls
from core.ui.cache import TraceKey, first_model
from core.ui.current import awaited_text
from core.ui.downloads import contents
from core.ui.heads import HeadTable, names_of
from core.ui.navigation import set_headline
from core.ui.presets import Preset
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects

SHORT = 50  # tokens: a result on fewer is only a hint
_words = Prose(__file__, "words_effect.md")
MATHEMATICS = _words("mathematics")
METHODS: dict[str, list[Any]] = tomllib.loads(
    Path(__file__).with_name("methods.toml").read_text("utf-8")
)["methods"]
NEEDED = 10  # needed heads, over all planted models
_SHOWN = {"part": "heads", "over": "text", "replace": "mean", "measure": "sentence"}


def examples(heads: HeadTable) -> list[Preset]:
    """A preset for the head with the largest effect."""
    first = largest_effect(heads.table)
    if first is None:
        return []
    place = {name: str(first[name]) for name in ("layer", "head")}
    return [Preset("Largest effect", _words("largest"), place)]


def show_effects(heads: Heads, found: Effects, colours: Palette) -> DeltaGenerator:
    """Show the answer, and the map beside the card for the chosen head.

    Without the chance level if it is not measured yet: `add_chance` adds it in the place that this
    returns.
    """
    leaders = leaders_of(heads.trace, heads.key, found.replace, found.measure)
    set_headline(headline(heads, found, leaders))
    export = contents("effect", heads.trace.model, "")
    draw_map = partial(
        show_effect_map,
        heads,
        colours,
        " ".join([_caption(heads.table, found), *notes(heads.trace, found)]),
        compared=len(found.draws) > 0,
    )
    place = show_overview(heads, colours, export, draw_map, partial(_show_card, heads, found))
    with st.expander("How far can methods be trusted?"):
        st.markdown("\n".join(table_of_methods()))
        st.caption(_words("traps"))
    return place


def show_first() -> DeltaGenerator:
    """Draw the shipped effects in a place, which this returns, and wait for the model.

    Draws nothing if the model is loaded or the link asks for something else.
    """
    place = st.empty()
    shipped = awaited_text()
    if shipped is None or shipped.effects is None or not controls.stand_at(**_SHOWN):
        return place
    trace, key = shipped.trace, TraceKey(shipped.trace.model, SENTENCE)
    steps: tuple[Step, ...] = ("map", "fresh")
    mapped, fresh = (shipped_effects(key, "mean", "sentence", step) for step in steps)
    if mapped is None or fresh is None:
        return place
    heads = HeadTable(trace=trace, table=effect_table(trace, mapped), layer=0, head=0)
    set_headline(headline(heads, mapped, leading_table(trace, fresh)))
    with place.container(), st.columns([5, 4], gap="medium")[0]:
        colours = palette(st.context.theme.type)
        show_effect_map(heads, colours, "", compared=True, chosen=False, key="effect_first")
    first_model.wait(trace.model, "text", first_model.DELAY_SECONDS)
    return place


def add_chance(place: DeltaGenerator, heads: Heads, found: Effects) -> None:
    """Measure the chance level, unless it is already drawn, and redraw the picture with it."""
    if len(found.draws):
        return
    controls.publish()
    with place.container():
        leaders = leaders_of(heads.trace, heads.key, found.replace, found.measure, waits=True)
        set_headline(headline(heads, found, leaders))
        measured_effects(heads.key, found.replace, found.measure)
    st.rerun()


def headline(heads: HeadTable, found: Effects, leaders: pd.DataFrame | None) -> str:
    """Whether a head matters on this text, and how strong the evidence is (Markdown)."""
    rows = heads.table if leaders is None else leaders
    passing = rows[:0] if leaders is None else leaders[leaders["matters"]]
    first = largest_effect(passing if len(passing) else rows)
    if first is None:
        raise AssertionError  # a model without heads has no such page
    facts = {
        "head": f"L{first['layer']} H{first['head']}",
        "modality": heads.trace.input.modality,
        "effect": number(first["effect"], ".3g"),
        "measured": TITLES[found.measure],
        "unit": found.unit,
    }
    if leaders is None:
        return _words("comparing", facts=facts)
    tokens = min(len(heads.trace.tokens), effects.MAX_TOKENS)
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


def _caption(table: pd.DataFrame, result: Effects) -> str:
    if not len(result.draws):
        return _words("squares")
    return _words(
        "dots", beyond=int(table["exceeds"].sum()), total=len(table), draws=len(result.draws)
    )


def _show_card(heads: Heads, result: Effects) -> None:
    """Show whether the head is needed and how much it writes; its pattern and what is odd."""
    key, row, measure = heads.key, heads.row, result.measure
    replaced, place = replacements_of(key.modality), (heads.layer, heads.head)
    ways = {name: effects_of_head(key, name, measure, *place) for name in replaced}
    needed = all(abs(effect) > control for effect, control in ways.values())
    verdict = _words("verdict", head=heads.name, share=row.get("share"), needed=needed)
    rows = ["| replaced by | effect | random directions | alone |", "|:--|--:|--:|--:|"]
    for name, (effect, control) in ways.items():
        direct = followed(key, "direct", name, measure, heads=(place,))
        alone = math.nan if direct is None else float(direct[place])
        rows.append(
            f"| {replaced[name]} | {_marked(effect, control)} | ≤ {number(control, '.3g')}"
            f" | {number(alone, '.3g', missing='–')} |"
        )
    others = number(row["others"], ".3g", missing="–")
    facts = {"measured": TITLES[measure], "unit": result.unit, "draws": SINGLE_DRAWS}
    st.markdown(verdict, help=_words("rule", draws=SINGLE_DRAWS))
    st.markdown("\n".join(rows))
    st.caption(_words("ways", others=others, replaced=replaced[result.replace], facts=facts))
    st.markdown(describe_head(heads, effect=False))
    show_numbers(heads)


def _marked(effect: float, control: float) -> str:
    """The effect, in bold if it exceeds its control."""
    text = number(effect, ".3g")
    return f"**{text}**" if abs(effect) > control else text


def table_of_methods() -> list[str]:
    """Lines of the table that compares methods (Markdown)."""
    lines = [
        "| method | area under ROC | without idle heads | finds | misses | points to in error |",
        "|:--|--:|--:|--:|:--|:--|",
    ]
    for name, (area, active, found, missed, wrong) in METHODS.items():
        numbers = f"{area:.2f} | {active:.2f} | {found} of {NEEDED}"
        lines.append(f"| {name} | {numbers} | {missed} | {wrong} |")
    return lines
