"""Sentences with marked pronouns, by whether the chosen head is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.corpus.sample import Mention
    from core.screens.patterns.found import Found
    from core.screens.patterns.shelf import MarkedSet

_LISTED = 8  # of each kind


def show_pairs(found: Found, marked: MarkedSet) -> None:
    """Pairs in which the chosen head heeds the word that differs, rightly or wrongly."""
    halves: dict[int, list[tuple[bool, str]]] = {}
    for sentence, resolved in zip(marked.sentences, marked.resolved, strict=True):
        if resolved.mentions and resolved.pair is not None:
            hit = bool(resolved.hits[0, found.layer, found.head])
            text = bold(sentence.text, resolved.mentions[0])
            halves.setdefault(resolved.pair, []).append((hit, text))
    whole = [each for each in halves.values() if len(each) == 2]
    lists = [
        ["  \n".join(text for _, text in pair) for pair in whole if [hit for hit, _ in pair] == of]
        for of in ([True, True], [False, False])
    ]
    _columns(("Both sentences right", "Both sentences wrong"), lists)
    same = len(whole) - sum(map(len, lists))
    st.caption(
        f"Pronouns are in bold with the noun they stand for. In the other {same} of {len(whole)}"
        f" pairs {found.name} attends most to the same noun in both sentences, or to both alike:"
        " it does not heed the word that differs."
    )


def show_sentences(found: Found, marked: MarkedSet) -> None:
    """Where the chosen head is right and where not, those first where the nearest noun is wrong."""
    right: list[tuple[bool, str]] = []
    wrong: list[tuple[bool, str]] = []
    for sentence, resolved in zip(marked.sentences, marked.resolved, strict=True):
        hits = resolved.hits
        for at, mention in enumerate(resolved.mentions):
            into = right if hits[at, found.layer, found.head] else wrong
            into.append((bool(resolved.nearest[at]), bold(sentence.text, mention)))
    lists = [[line for _, line in sorted(each, key=lambda one: one[0])] for each in (right, wrong)]
    _columns(("Right", "Wrong"), lists)
    st.caption(
        "Pronouns are in bold with the noun they stand for; those where the nearest noun is wrong"
        f" come first. {found.name} answers with the marked noun that gets most of the pronoun's"
        " attention."
    )


def _columns(titles: Sequence[str], lists: Sequence[Sequence[str]]) -> None:
    for column, title, lines in zip(st.columns(2), titles, lists, strict=True):
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
    spans = sorted([mention.pronoun, mention.candidates[mention.antecedent]])
    parts, last = [], 0
    for start, end in spans:
        parts += [escape(text[last:start]), f"**{escape(text[start:end])}**"]
        last = end
    return "".join([*parts, escape(text[last:])])
