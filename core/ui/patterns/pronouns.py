"""Coreference: which heads look from a pronoun to the noun it stands for, on the sample corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference import coreference_table
from core.figures.head_map import head_map
from core.figures.patterns import ring
from core.ui import address
from core.ui.messages import escape
from core.ui.patterns.overview import choose_head
from core.ui.patterns.wording import head_name, number

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.sample_corpus import Mention
    from core.figures.palette import Palette
    from core.ui.patterns.found import Found
    from core.ui.patterns.source import Corpus

_LISTED = 8  # sentences of each kind


def show_pronouns(found: Found, colours: Palette) -> None:
    """The map, the best heads beside the rule to beat, and what the chosen head did."""
    corpus = found.corpus
    if corpus is None:
        st.info(
            "Coreference is measured on the sample corpus, where pronouns and their nouns are"
            " marked; in your text nobody has marked them."
        )
        st.button("Measure on the sample corpus", on_click=_take_corpus, key="patterns_take_corpus")
        return
    if not any(resolved.mentions for resolved in corpus.resolved.values()):
        st.info("This model saw no marked pronoun with two nouns to choose from.")
        return
    table = coreference_table(list(corpus.resolved.values()))
    st.markdown(_say(table))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_map(found, table, colours)
    with right:
        st.markdown("**The best heads**")
        _show_best(table)
    st.markdown(_say_head(found, table))
    _show_sentences(found, corpus)


def publish_pronouns() -> None:
    """Write what this part shows into the address."""
    address.publish("part", "source", "layer", "head")


def _say(table: pd.DataFrame) -> str:
    nearest, chance = float(table["nearest"].iloc[0]), float(table["chance"].iloc[0])
    better = int(table["better"].sum())
    told = (
        f"**{better} of {len(table)} heads** do better, each with 95 % confidence."
        if better
        else "**No head does better** with 95 % confidence."
    )
    return (
        f"Of {int(table['pronouns'].iloc[0])} pronouns, the rule “it is the nearest noun” resolves"
        f" {number(nearest)}, guessing {number(chance)}. {told}"
    )


def _show_map(found: Found, table: pd.DataFrame, colours: Palette) -> None:
    shares = table["coreference"].to_numpy().reshape(found.trace.shape[:2])
    figure = head_map(shares, "coreference", colours, title="resolved")
    ring(figure, found.layer, found.head, shares.shape[1], colours)
    st.plotly_chart(
        figure,
        key="patterns_pronouns",
        on_select=_take_square,
        selection_mode="points",
        config={"displayModeBar": False},
    )
    st.caption(
        "A square is a head: the share of pronouns from which, of all marked nouns, it attends most"
        " to the right one. Click one to see its answers."
    )


def _take_square() -> None:
    points = st.session_state["patterns_pronouns"].selection.points
    if points:
        choose_head(int(points[0]["y"]) - 1, int(points[0]["x"]) - 1)


def _take_corpus() -> None:
    st.session_state["source"] = "corpus"


def _show_best(table: pd.DataFrame) -> None:
    best = table.sort_values("coreference", ascending=False, kind="stable").head(10)
    shown = best[["coreference", "low", "high", "hard", "better"]].copy()
    shown.insert(0, "head", "L" + best["layer"].astype(str) + " H" + best["head"].astype(str))
    st.dataframe(
        shown,
        key="patterns_best",
        hide_index=True,
        column_config={
            **{
                name: st.column_config.NumberColumn(label, format="%.3f")
                for name, label in (
                    ("coreference", "resolved"),
                    ("low", "from"),
                    ("high", "to"),
                    ("hard", "hard ones"),
                )
            },
            "better": st.column_config.CheckboxColumn("beats nearest"),
        },
    )
    st.caption(
        "From and to: the 95 % interval (Wilson); a head beats the rule if all of it is above."
        " Hard ones: pronouns that do not stand for the nearest noun."
    )


def _say_head(found: Found, table: pd.DataFrame) -> str:
    row = table.iloc[found.number]
    return (
        f"**{found.name}** resolves {number(float(row['coreference']))}"
        f" ({number(float(row['low']))} to {number(float(row['high']))})."
    )


def _show_sentences(found: Found, corpus: Corpus) -> None:
    """Where the chosen head is right, best of all where the nearest noun is wrong, and not."""
    right: list[tuple[bool, str]] = []
    wrong: list[tuple[bool, str]] = []
    for place, resolved in corpus.resolved.items():
        text = corpus.sentences[place]
        for at, mention in enumerate(resolved.mentions):
            hit = bool(resolved.hits[at, found.layer, found.head])
            (right if hit else wrong).append((bool(resolved.nearest[at]), _marked(text, mention)))
    columns = st.columns(2)
    for column, title, lines in zip(
        columns, ("Resolved", "Not resolved"), (right, wrong), strict=True
    ):
        with column:
            st.markdown(f"**{title}: {len(lines)}**")
            if not lines:
                st.caption("None.")
            for _, line in sorted(lines, key=lambda each: each[0])[:_LISTED]:
                st.markdown(line)
            if len(lines) > _LISTED:
                st.caption(f"and {len(lines) - _LISTED} more")
    st.caption(
        "Pronouns are in bold with the noun they stand for; those where the nearest noun is wrong"
        f" come first. {head_name(found.layer, found.head)} answers with the marked noun that gets"
        " most of the pronoun's attention."
    )


def _marked(text: str, mention: Mention) -> str:
    """The sentence as Markdown, its pronoun and antecedent in bold."""
    spans = sorted([mention.pronoun, mention.candidates[mention.antecedent]])
    parts, last = [], 0
    for start, end in spans:
        parts += [escape(text[last:start]), f"**{escape(text[start:end])}**"]
        last = end
    return "".join([*parts, escape(text[last:])])
