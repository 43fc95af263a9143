"""What the model view finds in the heads of a text or an image."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import streamlit as st

from core.analysis.head_patterns.search import find_heads
from core.components.model_view import Marks
from core.model.trace import kept
from core.ui.words.pattern_words import highlight_names, words_for
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
STYLES: list[Literal["lines", "tiles"]] = ["lines", "tiles"]
_PAIRS = {"all": "All", "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"}
_CROSS_PAIRS = {"all": "All", "aa": "→ A", "ab": "→ B"}  # queries are in neither sentence
_GAP = "\N{NO-BREAK SPACE}"
_MAX_NAMED = 6  # heads named in the sentence; in the picture all are marked


def pair_names(trace: Trace) -> Callable[[str], str]:
    """The names of sentence pairs."""
    return (_PAIRS if trace.source is None else _CROSS_PAIRS).__getitem__


@kept
def headline(trace: Trace) -> str:
    """How many heads rest on delimiters, and which looks at the neighbour most (Markdown).

    Empty if neither can be measured.
    """
    words, offered = words_for(trace), highlight_names(trace)
    if "delimiters" not in offered:
        return ""
    resting = find_heads(trace, "delimiters")
    before = find_heads(trace, "previous") if "previous" in offered else None
    ranked = before.ranked() if before is not None and before.holds.any() else []
    return _words(
        "headline",
        resting=int(resting.holds.sum()),
        total=resting.holds.size,
        where=words["delimiter"].where,
        reader=head_name(trace, *ranked[0][:2]) if ranked else "",
        share=ranked[0][2] if ranked else None,
        previous=words["previous"].where,
    )


def highlight(trace: Trace, name: str) -> Marks | None:
    """Say which heads follow the pattern, and return the labels of the tiles.

    The whole text is measured, whichever tokens are hidden.
    """
    if name == "none":
        return None
    search = find_heads(trace, name)
    st.markdown(_describe(trace, name))
    if not search.measurable:
        return None
    pattern = search.pattern
    score = "entropy" if pattern.measured == "entropy" else words_for(trace)[pattern.name].highlight
    return Marks(score, search.scores, search.holds, search.ranked()[0][:2])


@kept
def _describe(trace: Trace, name: str) -> str:
    """One paragraph of Markdown, true for any text."""
    search = find_heads(trace, name)
    words = words_for(trace)[search.pattern.name]
    title = words.highlight.capitalize()
    if not search.measurable:
        return f"**{title}** cannot be measured here. {words.missing}"
    ranked = search.ranked()
    holding = [(layer, head, score) for layer, head, score in ranked if search.holds[layer, head]]
    count = f"{len(holding)} of {search.scores.size} heads" if holding else "no head"
    rule = words.rule.format(search.pattern.threshold)
    names = [f"{_name(trace, *place)}{_GAP}{score:.2f}" for *place, score in holding or ranked[:1]]
    more = len(names) - _MAX_NAMED
    rest = f" and {more} more, numbered in the picture" if more > 0 else ""
    named = f"{', '.join(names[:_MAX_NAMED])}{rest}"
    return (
        f"**{title}: {count}** with {rule} (the uniform baseline is {search.uniform:.2f})"
        f"{': ' if holding else '. The closest is '}{named}."
    )


def _name(trace: Trace, layer: int, head: int) -> str:
    return head_name(trace, layer, head).replace(" ", _GAP)
