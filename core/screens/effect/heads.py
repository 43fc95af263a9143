"""All heads by their effect, and what is known of the one that is chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.effect import INACTIVE, LITTLE, NEGLIGIBLE, largest_effect
from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.figures.palette import Palette
from core.screens.effect.measuring import (
    FALLING,
    asked_of,
    effects_of_head,
    name_of,
    notes_of_effects,
)
from core.screens.effect.writes import what_it_writes
from core.screens.effect.writing import direct_of_head
from core.ui.downloads import contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.effects import replacements_of
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Effects
    from core.ui.cache import TraceKey

_words = Prose(__file__)


def show_heads(heads: HeadTable, found: Effects, key: TraceKey, colours: Palette) -> None:
    """The answer, the map, the card of the chosen head; then the table and the file."""
    replaced = replacements_of(key.modality)
    ask(_headline(heads.table, found, replaced[found.replace]))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        show_map(heads, name_of(found), colours)
        st.caption(" ".join([_caption(heads.table, found), *notes_of_effects(heads.trace, found)]))
    with right, st.container(border=True):
        _show_card(heads, found, key)
    with st.container(horizontal=True):
        offer_table(heads, contents("effect", heads.trace.model, ""))
    with st.expander("Every head"):
        st.dataframe(heads.table, hide_index=True, height=420)


def _headline(table: pd.DataFrame, found: Effects, replaced: str) -> str:
    """The head whose effect is largest beyond its control, or that there is none (Markdown)."""
    first = largest_effect(table)
    if first is None:
        return _words("no_head", replaced=replaced)
    return _words(
        "headline",
        head=f"L{first['layer']} H{first['head']}",
        measured=name_of(found),
        falls=found.measure in FALLING and first["effect"] > 0,
        rises=found.measure in FALLING and first["effect"] < 0,
        effect=number(abs(first["effect"]) if found.measure in FALLING else first["effect"], ".3g"),
        control=number(first["control"], ".3g"),
        unit=found.unit,
    )


def _caption(table: pd.DataFrame, found: Effects) -> str:
    return _words(
        "squares",
        beyond=int(table["exceeds"].sum()),
        total=len(table),
        draws=len(found.draws),
        chance=round(table.attrs["chance"] * len(table)),
        negligible=percent(NEGLIGIBLE),
    )


def show_map(heads: HeadTable, name: str, colours: Palette) -> None:
    """A square for every head, coloured by its effect, on what is so called, beyond its control."""
    values, within, facts = heads.grid("effect"), ~heads.grid("exceeds"), heads.table.attrs
    reach = float(np.abs(values[~within]).max(initial=0.0)) or 1.0
    signed = bool((values[~within] < 0).any())
    show_head_map(
        heads.trace,
        values,
        f"effect on the {name}",
        colours,
        key="effect_map",
        on_open=choose_head,
        chosen=(heads.layer, heads.head),
        bounds=(-reach, reach) if signed else (0.0, reach),
        signed=signed,
        title=facts["unit"],
        large=True,
        within=within,
    )


def _show_card(heads: HeadTable, found: Effects, key: TraceKey) -> None:
    """What it looks like, how much it writes, whether it is needed, each beside its control."""
    row, replaced, asked = heads.row, replacements_of(key.modality), asked_of(found)
    ways = {name: effects_of_head(key, name, asked, heads.layer, heads.head) for name in replaced}
    least = heads.table.attrs["least"]
    needed = sum(_counts(effect, control, least) for effect, control in ways.values())
    pattern, short = pattern_names(heads.trace)[row["pattern"]], row["pattern"] == TOO_SHORT
    named, known = row["pattern"] not in (NONE, TOO_SHORT), "share" in row
    share = row["share"] if known else 0.0
    verdict = _words(
        "verdict",
        head=heads.name,
        pattern=pattern,
        named=named,
        known=known,
        share=share,
        inactive=INACTIVE,
        little=LITTLE,
        needed=needed,
        ways=len(ways),
    )
    rule = _words(
        "rule", inactive=INACTIVE, little=LITTLE, ways=len(ways), negligible=percent(NEGLIGIBLE)
    )
    st.markdown(verdict, help=rule)
    st.markdown(_words("looks", pattern=pattern, named=named, short=short))
    st.markdown(_words("carries", known=known, share=share))
    st.markdown(what_it_writes(heads, key, asked))
    st.markdown(_words("is_needed", measured=name_of(found), unit=found.unit))
    rows = ["| replaced by | effect | random directions | alone |", "|:--|--:|--:|--:|"]
    for name, (effect, control) in ways.items():
        alone = direct_of_head(key, name, asked, heads.layer, heads.head)
        rows.append(
            f"| {replaced[name]} | {_marked(effect, control, least)} | ≤ {number(control, '.3g')}"
            f" | {number(alone, '.3g', missing='–')} |"
        )
    st.markdown("\n".join(rows))
    others = number(row["others"], ".3g", missing="–")
    st.caption(_words("others", others=others, replaced=replaced[found.replace]))
    st.markdown(_repair(row, replaced[found.replace]))


def _repair(row: dict[str, Any], replaced: str) -> str:
    """What the rest of the model makes of a head that is replaced (Markdown)."""
    direct, repaired = row.get("direct", float("nan")), row.get("repaired", float("nan"))
    return _words(
        "is_repaired",
        known=math.isfinite(direct),
        replaced=replaced,
        direct=number(direct, ".3g"),
        effect=number(row["effect"], ".3g"),
        repaired=number(abs(repaired), ".3g"),
        less=abs(row["effect"]) < abs(direct),
    )


def _counts(effect: float, control: float, least: float) -> bool:
    """Whether an effect is larger than its control, and not negligible."""
    return abs(effect) > control and abs(effect) >= least


def _marked(effect: float, control: float, least: float) -> str:
    """The effect, in bold where it counts."""
    text = number(effect, ".3g")
    return f"**{text}**" if _counts(effect, control, least) else text
