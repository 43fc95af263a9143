"""Coreference: which heads look from a pronoun to the noun it refers to, on marked sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.screens.patterns.marked import measured_pronouns
from core.screens.patterns.overview import choose_head
from core.screens.patterns.pronoun_wording import SETS, conclude, describe_head, describe_set
from core.ui import controls
from core.ui.head_maps import show_head_map
from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.analysis.corpus.sample import Mention
    from core.figures.palette import Palette
    from core.screens.patterns.marked import MarkedSet
    from core.screens.patterns.view import View

_BEST = 10  # heads in the table
_LISTED = 8  # sentences of each kind
# Columns of the table of best heads: their headings, and what they are in the coreference table.
_PAIRS = {"both": "both_right", "neither": "both_wrong"}
_RULES = {"− nearest": "over_nearest", "− first": "over_first"}


def pick_marked() -> str:
    """Which marked sentences are shown."""
    return controls.choice("marked", SETS, "Pronouns of", subject="Pronouns are marked in")


def show_pronouns(view: View, name: str, colours: Palette) -> None:
    """The set of this `name`: the map, the best heads, and what one head answered."""
    sets = measured_pronouns(view.trace.model)
    if not sets:
        st.info("This model saw no marked pronoun with two nouns to choose from.")
        return
    st.markdown(conclude(sets))
    if name not in sets:
        st.info(f"This model saw no pronoun of the {SETS[name]} with two nouns to choose from.")
        return
    marked, pairs = sets[name], name == "pairs"
    st.markdown(describe_set(name, marked))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        show_head_map(
            marked.table["coreference"].to_numpy().reshape(view.trace.shape[:2]),
            "right",
            colours,
            key="patterns_pronouns",
            on_open=choose_head,
            chosen=(view.layer, view.head),
            title="right",
        )
        st.caption(
            "A square is a head: the share of pronouns from which, of all marked nouns, it attends"
            " most to the right one. Click one to see its answers."
        )
    with right:
        _show_best(marked.table, pairs=pairs)
    st.markdown(describe_head(view.name, marked.table.iloc[view.number], pairs=pairs))
    if pairs:
        _show_pairs(view, marked)
    else:
        _show_sentences(view, marked)


def _show_best(table: pd.DataFrame, *, pairs: bool) -> None:
    st.markdown("**The heads with the highest share**")
    best = table.sort_values("coreference", ascending=False, kind="stable").head(_BEST)
    columns = _PAIRS if pairs else _RULES
    shown = pd.DataFrame(
        {
            "head": "L" + best["layer"].astype(str) + " H" + best["head"].astype(str),
            "right": best["coreference"],
            "95 % interval": [
                f"{low:.2f} to {high:.2f}" if np.isfinite(low) else "–"
                for low, high in zip(best["low"], best["high"], strict=True)
            ],
            **{heading: best[name] for heading, name in columns.items()},
            "beats": best["better"],
        }
    )
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
    legend = (
        "Both, neither: pairs in which it resolves both sentences, or neither; in the others it"
        " gives both the same noun."
        if pairs
        else "− nearest, − first: the difference from these rules on the same pronouns."
    )
    st.caption(
        f"The interval is that of the head alone. {legend} Beats: right more often than the nearest"
        f" and the first noun, corrected for the choice among {len(table)} heads."
    )


def _show_pairs(view: View, marked: MarkedSet) -> None:
    """Pairs in which the chosen head heeds the deciding word, rightly or wrongly."""
    halves: dict[int, list[tuple[bool, str]]] = {}
    for sentence, resolved in zip(marked.sentences, marked.resolved, strict=True):
        if resolved.mentions and resolved.pair is not None:
            hit = bool(resolved.hits[0, view.layer, view.head])
            text = bold(sentence.text, resolved.mentions[0])
            halves.setdefault(resolved.pair, []).append((hit, text))
    whole = [pair for pair in halves.values() if len(pair) == 2]
    right, wrong = (
        [
            "  \n".join(text for _, text in pair)
            for pair in whole
            if {hit for hit, _ in pair} == hits
        ]
        for hits in ({True}, {False})
    )
    _show_lists({"Both sentences right": right, "Both sentences wrong": wrong})
    same = len(whole) - len(right) - len(wrong)
    st.caption(
        f"Pronouns are in bold with the noun they refer to. In the other {same} of {len(whole)}"
        f" pairs {view.name} attends most to the same noun in both sentences, or equally to both:"
        " it does not heed the deciding word."
    )


def _show_sentences(view: View, marked: MarkedSet) -> None:
    """Where the chosen head is right or wrong, beginning where the nearest noun is wrong."""
    lists: dict[str, list[tuple[bool, str]]] = {"Right": [], "Wrong": []}
    for sentence, resolved in zip(marked.sentences, marked.resolved, strict=True):
        hits = resolved.hits[:, view.layer, view.head]
        for hit, nearest, mention in zip(hits, resolved.nearest, resolved.mentions, strict=True):
            lists["Right" if hit else "Wrong"].append((nearest, bold(sentence.text, mention)))
    _show_lists(
        {
            title: [line for _, line in sorted(lines, key=lambda one: one[0])]
            for title, lines in lists.items()
        }
    )
    st.caption(
        "Pronouns are in bold with the noun they refer to; those where the nearest noun is wrong"
        f" come first. {view.name} answers with the marked noun that gets most of the pronoun's"
        " attention."
    )


def _show_lists(lists: Mapping[str, Sequence[str]]) -> None:
    for column, (title, lines) in zip(st.columns(2), lists.items(), strict=True):
        with column:
            st.markdown(f"**{title}: {len(lines)}**")
            if not lines:
                st.caption("None.")
            for line in lines[:_LISTED]:
                st.markdown(line)
            if len(lines) > _LISTED:
                st.caption(f"and {len(lines) - _LISTED} more")


def bold(text: str, mention: Mention) -> str:
    """The sentence as Markdown, its pronoun and antecedent in bold."""
    parts, last = [], 0
    for start, end in sorted([mention.pronoun, mention.candidates[mention.antecedent]]):
        parts += [escape(text[last:start]), f"**{escape(text[start:end])}**"]
        last = end
    return "".join([*parts, escape(text[last:])])
