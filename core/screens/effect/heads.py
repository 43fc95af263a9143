"""All heads by their effect, and what is known of the one that is chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.arrays import Bools
from core.analysis.effect import FALSE_DISCOVERY, INACTIVE, LITTLE, largest_effect
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
from core.screens.effect.writes import what_it_writes
from core.screens.effect.writing import direct_of_head
from core.ui import controls
from core.ui.downloads import contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, names_of, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects
    from core.ui.cache import TraceKey

SHORT = 50  # tokens: what is found on fewer is a hint
_words = Prose(__file__)


def show_heads(heads: HeadTable, found: Effects, key: TraceKey, colours: Palette) -> DeltaGenerator:
    """The answer, the map, the card of the chosen head; then the table and the file.

    Of the effects alone, where what chance does is not measured yet: `compare` does that, in the
    place that this gives.
    """
    leaders = leaders_of(heads.trace, key, found.replace, found.measure)
    ask(headline(heads, found, leaders))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        beyond = heads.grid("exceeds") if len(found.draws) else None
        show_map(heads, MEASURED[found.measure], colours, beyond=beyond)
        st.caption(" ".join([_caption(heads.table, found), *notes(heads.trace, found)]))
    with right, st.container(border=True):
        _show_card(heads, found, key)
    place = st.empty()
    with st.container(horizontal=True):
        offer_table(heads, contents("effect", heads.trace.model, ""))
    with st.expander("Every head"):
        st.dataframe(heads.table, hide_index=True, height=420)
    show_methods()
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
    trace, rows = heads.trace, heads.table if leaders is None else leaders
    passing = rows[:0] if leaders is None else leaders[leaders["matters"]]
    first = largest_effect(passing if len(passing) else rows)
    if first is None:
        raise AssertionError  # a model without heads has no such page
    tokens, effect = min(len(trace.tokens), given.MAX_TOKENS), first["effect"]
    head, modality = f"L{first['layer']} H{first['head']}", trace.input.modality
    few = tokens if tokens < SHORT and trace.input.has_words else 0
    if leaders is None:
        size = number(effect, ".3g")
        return _words("comparing", effect=size, head=head, unit=found.unit, modality=modality)
    low, high, draws = (
        number(first["low"], ".3g"),
        number(first["high"], ".3g"),
        leaders.attrs["draws"],
    )
    if not len(passing):
        dots = set(names_of(heads.table[heads.table["exceeds"]])) - set(names_of(leaders))
        return _words(
            "no_head",
            effect=number(effect, ".3g"),
            leaders=len(leaders),
            dots=len(dots) if len(found.draws) else None,
            head=head,
            unit=found.unit,
            modality=modality,
            tokens=few,
            low=low,
            high=high,
            draws=draws,
        )
    signed = found.measure == "logit_difference"
    return _words(
        "headline",
        measured=MEASURED[found.measure],
        falls=signed and effect > 0,
        rises=signed and effect < 0,
        effect=number(abs(effect) if signed else effect, ".3g"),
        others=", ".join(names_of(passing).tolist()[1:]),
        alone=len(passing) == 2,
        head=head,
        unit=found.unit,
        modality=modality,
        tokens=few,
        low=low,
        high=high,
        draws=draws,
    )


def _caption(table: pd.DataFrame, found: Effects) -> str:
    return _words(
        "squares",
        compared=len(found.draws) > 0,
        beyond=int(table["exceeds"].sum()),
        total=len(table),
        draws=len(found.draws),
        rate=percent(FALSE_DISCOVERY),
    )


def show_map(
    heads: HeadTable,
    name: str,
    colours: Palette,
    *,
    beyond: Bools | None = None,
) -> None:
    """A square for every head, coloured by its effect on what is so called.

    Those `beyond` chance, (layer, head), have a dot.
    """
    values = heads.grid("effect")
    coloured = np.isfinite(values)
    reach = float(np.abs(values[coloured]).max(initial=0.0)) or 1.0
    signed = bool((values[coloured] < 0).any())
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
        title=heads.table.attrs["unit"],
        large=True,
        beyond=beyond,
    )


def _show_card(heads: HeadTable, found: Effects, key: TraceKey) -> None:
    """What it looks like, how much it writes, whether it is needed, each beside its control."""
    row, replaced, measure = heads.row, replacements_of(key.modality), found.measure
    ways = {name: effects_of_head(key, name, measure, heads.layer, heads.head) for name in replaced}
    known = "share" in row
    share = row["share"] if known else 0.0
    verdict = _words(
        "verdict",
        head=heads.name,
        pattern=pattern_names(heads.trace)[row["pattern"]],
        named=row["pattern"] not in (NONE, TOO_SHORT),
        known=known,
        share=share,
        ways=len(ways),
        needed=all(abs(effect) > control for effect, control in ways.values()),
        inactive=INACTIVE,
        little=LITTLE,
    )
    rule = _words("rule", inactive=INACTIVE, little=LITTLE, draws=SINGLE_DRAWS)
    st.markdown(verdict, help=rule)
    st.markdown(_words("carries", known=known, share=share))
    st.markdown(what_it_writes(heads, key, measure))
    st.markdown(_words("is_needed", measured=MEASURED[found.measure], unit=found.unit))
    rows = ["| replaced by | effect | random directions | alone |", "|:--|--:|--:|--:|"]
    for name, (effect, control) in ways.items():
        alone = direct_of_head(key, name, measure, heads.layer, heads.head)
        rows.append(
            f"| {replaced[name]} | {_marked(effect, control)} | ≤ {number(control, '.3g')}"
            f" | {number(alone, '.3g', missing='–')} |"
        )
    st.markdown("\n".join(rows))
    others = number(row["others"], ".3g", missing="–")
    st.caption(
        _words("others", draws=SINGLE_DRAWS, others=others, replaced=replaced[found.replace])
    )
    direct, repaired = (row.get(name, math.nan) for name in ("direct", "repaired"))
    follows = _words(
        "what_follows",
        replaced=replaced[found.replace],
        effect=number(row["effect"], ".3g"),
        direct=number(direct, ".3g", missing=""),
        repaired=number(repaired, ".3g", missing=""),
    )
    st.markdown(follows)


def _marked(effect: float, control: float) -> str:
    """The effect, in bold where it is larger than its control."""
    text = number(effect, ".3g")
    return f"**{text}**" if abs(effect) > control else text
