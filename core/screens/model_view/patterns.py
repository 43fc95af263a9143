"""What the model view can highlight, and what it says about the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.head_patterns.search import Search, find_heads
from core.components.model_view import Marks
from core.ui.words.pattern_words import words_for
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_GAP = "\N{NO-BREAK SPACE}"
_MAX_NAMED = 6  # heads that the sentence names; in the picture all are marked


def highlight(trace: Trace, name: str) -> Marks | None:
    """Say which heads follow the pattern, and return what is written on the tiles.

    The text is measured as a whole, whatever tokens are hidden.
    """
    if name == "none":
        return None
    search = find_heads(trace, name)
    st.markdown(_describe(trace, search))
    if not search.measurable:
        return None
    pattern = search.pattern
    score = "entropy" if pattern.measured == "entropy" else words_for(trace)[pattern.name].highlight
    return Marks(score, search.scores, search.holds, search.ranked()[0][:2])


def _describe(trace: Trace, search: Search) -> str:
    """One paragraph of Markdown, true for any text."""
    words = words_for(trace)[search.pattern.name]
    title = words.highlight.capitalize()
    if not search.measurable:
        return f"**{title}** cannot be measured here. {words.missing}"
    ranked = search.ranked()
    holding = [(layer, head, score) for layer, head, score in ranked if search.holds[layer, head]]
    count = f"{len(holding)} of {search.scores.size} heads" if holding else "no head"
    rule = words.rule.format(search.pattern.threshold)
    named = _list(
        [f"{_name(trace, *place)}{_GAP}{score:.2f}" for *place, score in holding or ranked[:1]]
    )
    return (
        f"**{title}: {count}** with {rule} (the uniform baseline is {search.uniform:.2f})"
        f"{': ' if holding else '. The closest is '}{named}."
    )


def _list(names: list[str]) -> str:
    more = len(names) - _MAX_NAMED
    rest = f" and {more} more, numbered in the picture" if more > 0 else ""
    return f"{', '.join(names[:_MAX_NAMED])}{rest}"


def _name(trace: Trace, layer: int, head: int) -> str:
    return head_name(trace, layer, head).replace(" ", _GAP)
