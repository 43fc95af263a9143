"""Coreference: which heads look from a pronoun to the noun it stands for, on marked sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.screens.patterns.marked import measured_pronouns
from core.screens.patterns.overview import choose_head
from core.screens.patterns.pronoun_lists import show_pairs, show_sentences
from core.screens.patterns.pronoun_wording import SETS, conclude, say_head, say_set
from core.ui import controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.screens.patterns.found import Found

_BEST = 10  # heads in the table
# Columns of that table: how they are called, and what they are in the coreference table.
_PAIRS = {"both": "both_right", "neither": "both_wrong"}
_RULES = {"− nearest": "over_nearest", "− first": "over_first"}


def pick_marked() -> str:
    """Which marked sentences are shown."""
    return controls.choice("marked", SETS, "Pronouns of", subject="Pronouns are marked in")


def show_pronouns(found: Found, name: str, colours: Palette) -> None:
    """What holds in the set of this `name`: the map, the best heads, and what one head answered."""
    sets = measured_pronouns(found.trace.model)
    known = {name: each for name, each in sets.items() if each.table is not None}
    if not known:
        st.info("This model saw no marked pronoun with two nouns to choose from.")
        return
    st.markdown(conclude(known))
    if name not in known:
        st.info(f"This model saw no pronoun of the {SETS[name]} with two nouns to choose from.")
        return
    st.markdown(say_set(name, known[name]))
    table = known[name].table
    assert table is not None  # noqa: S101 - others are not known
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _show_map(found, table, colours)
    with right:
        _show_best(table, pairs=name == "pairs")
    st.markdown(say_head(found.name, table.iloc[found.number], pairs=name == "pairs"))
    if name == "pairs":
        show_pairs(found, known[name])
    else:
        show_sentences(found, known[name])


def _show_map(found: Found, table: pd.DataFrame, colours: Palette) -> None:
    shares = table["coreference"].to_numpy().reshape(found.trace.shape[:2])
    show_head_map(
        shares,
        "right",
        colours,
        key="patterns_pronouns",
        on_open=choose_head,
        chosen=(found.layer, found.head),
        title="right",
    )
    st.caption(
        "A square is a head: the share of pronouns from which, of all marked nouns, it attends most"
        " to the right one. Click one to see its answers."
    )


def _show_best(table: pd.DataFrame, *, pairs: bool) -> None:
    st.markdown("**The heads with the highest share**")
    best = table.sort_values("coreference", ascending=False, kind="stable").head(_BEST)
    interval = [
        f"{low:.2f} to {high:.2f}" if np.isfinite(low) else "–"
        for low, high in zip(best["low"], best["high"], strict=True)
    ]
    shown = pd.DataFrame(
        {
            "head": "L" + best["layer"].astype(str) + " H" + best["head"].astype(str),
            "right": best["coreference"],
            "95 % interval": interval,
        }
    )
    shown[list(_PAIRS if pairs else _RULES)] = best[
        list((_PAIRS if pairs else _RULES).values())
    ].to_numpy()
    shown["beats"] = best["better"]
    st.dataframe(
        shown,
        key="patterns_best",
        hide_index=True,
        column_config={
            "right": st.column_config.NumberColumn(format="%.2f", width=50),
            "95 % interval": st.column_config.TextColumn(width=95),
            **{name: st.column_config.NumberColumn(width=66) for name in _PAIRS},
            **{name: st.column_config.NumberColumn(format="%+.2f", width=72) for name in _RULES},
            "beats": st.column_config.CheckboxColumn(width=60),
        },
    )
    what = (
        "Both, neither: pairs of which it resolves both sentences, or neither; in the others it"
        " gives both the same noun."
        if pairs
        else "− nearest, − first: the difference to these rules on the same pronouns."
    )
    st.caption(
        f"The interval is that of the head alone. {what} Beats: more often right than"
        f" the nearest and the first noun, corrected for the choice among {len(table)} heads."
    )
