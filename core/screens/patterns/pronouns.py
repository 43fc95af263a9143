"""Coreference: which heads look from a pronoun to the noun it refers to, on marked sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.coreference import Estimate
from core.analysis.corpus.sample import Mention
from core.figures.palette import Palette
from core.model import Trace
from core.screens.patterns.corpus import MarkedSet, measured_pronouns, note_pronouns
from core.screens.patterns.overview import choose_one
from core.screens.patterns.view import View
from core.ui import controls
from core.ui.corpus_walk import show_unread
from core.ui.head_maps import show_head_map
from core.ui.head_tables import names_of
from core.ui.words.messages import escape
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)
SETS = {"pairs": "minimal pairs", "sample": "sample corpus"}
_BEST = 10  # heads in the table
_LISTED = 8  # sentences of each kind
# Columns of the table of best heads: their headings, and what they are in the coreference table.
_PAIRS = {"both": "both_right", "neither": "both_wrong"}
_RULES = {"− nearest": "over_nearest", "− first": "over_first"}


def pick_marked() -> str:
    """Which marked sentences are shown."""
    return controls.choice("marked", SETS, "Pronouns of", subject="Pronouns are marked in")


def show_pronouns(view: View, colours: Palette, name: str) -> None:
    """The set of this `name`: the map, the best heads, and what one head answered."""
    if show_unread(view.trace, "Every sentence with marked pronouns"):
        return
    sets = measured_pronouns(view.trace.model)
    if not sets:
        st.info(_words("no_pronoun", marked=""))
        return
    if name not in sets:
        st.markdown(_conclude(sets))
        st.info(_words("no_pronoun", marked=SETS[name]))
        return
    marked, pairs = sets[name], name == "pairs"
    note_pronouns(name, marked)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        show_head_map(
            view.trace,
            marked.table["coreference"].to_numpy().reshape(view.trace.shape[:2]),
            "right",
            colours,
            key="patterns_pronouns",
            on_open=choose_one,
            chosen=(view.layer, view.head),
            title="right",
        )
        st.caption(_words("right_shares"))
    with right:
        _show_best(marked.table, pairs=pairs)
    st.markdown(_conclude(sets))
    st.markdown(_describe_set(view.trace, name, marked))
    st.markdown(_describe_head(view.name, marked.table.iloc[view.number], pairs=pairs))
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
            "head": names_of(best),
            "right": best["coreference"],
            "95\N{NO-BREAK SPACE}% interval": [
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
            "95\N{NO-BREAK SPACE}% interval": st.column_config.TextColumn(width=95),
            **{name: st.column_config.NumberColumn(width=66) for name in _PAIRS},
            **{name: st.column_config.NumberColumn(format="%+.2f", width=72) for name in _RULES},
            "beats": st.column_config.CheckboxColumn(width=60),
        },
    )
    st.caption(_words("best_heads", pairs=pairs, heads=len(table)))


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
    st.caption(_words("pairs", same=same, total=len(whole), head=view.name))


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
    st.caption(_words("answers", head=view.name))


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


def _conclude(sets: Mapping[str, MarkedSet]) -> str:
    """What holds on both sets (Markdown): whether heads beat both rules, and the best head."""
    pairs, sample = (_winners(sets[name]) if name in sets else {} for name in SETS)
    return _words("conclusion", pairs=pairs, sample=sample)


def _winners(marked: MarkedSet) -> dict[str, Any]:
    """How many heads beat both rules, of how many, and the rates beside it."""
    table, best = marked.table, marked.best
    return {
        "count": int(table["better"].sum()),
        "total": len(table),
        "rate": "" if best is None else number(best.share.mean),
        "nearest": table["nearest"].iloc[0],
    }


def _describe_set(trace: Trace, name: str, marked: MarkedSet) -> str:
    """How often rules and the best head are right on one set (Markdown)."""
    best = marked.best
    heads = () if best is None else dict.fromkeys(head_name(trace, *head) for head in best.heads)
    return _words(
        "marked_set",
        pairs=name == "pairs",
        row=marked.table.iloc[0],
        heads=" and ".join(heads),
        share="" if best is None else _interval(best.share),
        beside="" if best is None else _interval(best.over["nearest"], "+.2f"),
    )


def _describe_head(name: str, row: pd.Series, *, pairs: bool) -> str:
    """What one head does, beside both rules (Markdown)."""
    return _words("answers_of_head", head=name, row=row, pairs=pairs)


def _interval(estimate: Estimate, form: str = ".2f") -> str:
    mean = number(estimate.mean, form)
    if not np.isfinite(estimate.low):
        return mean
    return f"{mean} ({number(estimate.low)} to {number(estimate.high)})"
