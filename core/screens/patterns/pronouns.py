"""Coreference: which heads look from a pronoun to the noun it refers to, on marked sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from core.ui.words.messages import escape
from core.ui.words.numbers import number
from core.vocabulary import head_name

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
        st.info("This model saw no marked pronoun with two nouns to choose from.")
        return
    if name not in sets:
        st.markdown(_conclude(sets))
        st.info(f"This model saw no pronoun of the {SETS[name]} with two nouns to choose from.")
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
        st.caption(
            "A square is a head: the share of pronouns from which, of all marked nouns, it attends"
            " most to the right one. Click one to see its answers."
        )
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


def _conclude(sets: Mapping[str, MarkedSet]) -> str:
    """What holds on both sets (Markdown): whether heads beat both rules, and the best head."""
    sentences = []
    if "pairs" in sets:
        _, heads, context = _winners(sets["pairs"])
        sentences.append(
            f"**Where only meaning decides, {heads} demonstrably right more often than the nearest"
            f" or the first noun** ({context}; corrected for the choice among"
            f" {len(sets['pairs'].table)})."
        )
    if "sample" in sets:
        count, heads, context = _winners(sets["sample"])
        caveat = (
            ", but there nouns often differ in gender, number or role: these heads may only follow"
            " the grammar."
            if count
            else "."
        )
        sentences.append(f"On the sample corpus {heads} ({context}){caveat}")
    return " ".join(sentences)


def _winners(marked: MarkedSet) -> tuple[int, str, str]:
    """How many heads beat both rules, the same as subject and verb, and the rates beside it."""
    table, best = marked.table, marked.best
    count = int(table["better"].sum())
    heads = f"{count} of {len(table)} heads {'is' if count == 1 else 'are'}"
    rate = "" if best is None else f"best head {number(best.share.mean)}, "
    context = f"{rate}nearest noun {number(table['nearest'].iloc[0])}"
    return count, heads if count else "no head is", context


def _describe_set(trace: Trace, name: str, marked: MarkedSet) -> str:
    """How often rules and the best head are right on one set (Markdown)."""
    row = marked.table.iloc[0]
    content = (
        f"**Minimal pairs**: {row['pronouns']} pronouns in {row['groups']} pairs of sentences that"
        " differ in one word, which makes the other noun the right one; both agree with the"
        " pronoun."
        if name == "pairs"
        else f"**Sample corpus**: {row['pronouns']} pronouns, {row['groups']} sentences."
    )
    rules = (
        f"The nearest noun is right for {number(row['nearest'])}, the first for"
        f" {number(row['first'])}, guessing for {number(row['chance'])}"
    )
    best = marked.best
    if best is None:
        return f"{content} {rules}."
    heads = " and ".join(dict.fromkeys(head_name(trace, *head) for head in best.heads))
    return (
        f"{content} {rules}; the best head ({heads}, chosen on one half, judged on the other) for"
        f" **{_interval(best.share)}**, {_interval(best.over['nearest'], '+.2f')} beside the"
        " nearest."
    )


def _describe_head(name: str, row: pd.Series, *, pairs: bool) -> str:
    """What one head does, beside both rules (Markdown)."""
    total = row["pronouns"]
    rules = " and ".join(
        f"{number(row[f'over_{rule}'], '+.2f')} ({number(row[f'over_{rule}_low'])} to"
        f" {number(row[f'over_{rule}_high'])}) beside the {rule} noun"
        for rule in ("nearest", "first")
    )
    sentence = (
        f"**{name}** picks the antecedent for {round(row['coreference'] * total)} of {total}"
        f" pronouns, {number(row['coreference'])} ({number(row['low'])} to {number(row['high'])}):"
        f" {rules}."
    )
    if not pairs:
        return sentence
    right, wrong = row["both_right"], row["both_wrong"]
    return (
        f"{sentence} It heeds the deciding word in {right + wrong} of {row['groups']} pairs:"
        f" {right} right, {wrong} wrong."
    )


def _interval(estimate: Estimate, form: str = ".2f") -> str:
    mean = number(estimate.mean, form)
    if not np.isfinite(estimate.low):
        return mean
    return f"{mean} ({number(estimate.low)} to {number(estimate.high)})"
