"""What can be looked for in the model view, and what is said of what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.head_patterns.search import find_heads
from core.analysis.related_words.heads import LEVEL
from core.analysis.related_words.words import closest_pairs
from core.components.model_view import Marks
from core.ui import cache
from core.ui.messages import quote
from core.ui.words.pattern_words import NO_SECOND, WORDS

if TYPE_CHECKING:
    from core.analysis.head_patterns.search import Search
    from core.analysis.related_words.heads import RelatedHeads, Scope
    from core.analysis.related_words.words import RelatedWords
    from core.model import Trace

_SCOPES: dict[str, Scope] = {"related": "text", "related_other": "other"}
_GAP = "\N{NO-BREAK SPACE}"
_PERCENT = f"{100 * (1 - LEVEL):.0f} %"
_NAMED = 6  # heads, or pairs of words, that are named in the sentence; heads are all marked


def look_for(trace: Trace, name: str, key: cache.TextKey) -> Marks | None:
    """Say which heads follow the pattern, and give what is written on the tiles.

    The text is measured as a whole: hidden tokens and pair filters do not change it.

    Parameters
    ----------
    key : what the trace is cached by.
    """
    if name == "none":
        return None
    if name not in _SCOPES:
        search = find_heads(trace, name)
        st.markdown(describe(search))
        return _marks(search)
    scope = _SCOPES[name]
    found = cache.related(key, scope)
    st.markdown(describe_related(trace, found, scope))
    return None if found is None else _related_marks(found[1])


def describe(search: Search) -> str:
    """One paragraph of Markdown, true for any text."""
    words = WORDS[search.pattern.name]
    title = words.highlight.capitalize()
    if not search.measurable:
        return f"**{title}** cannot be measured here: {words.lacks}."
    ranked = search.ranked()
    found = [(layer, head, score) for layer, head, score in ranked if search.holds[layer, head]]
    count = f"{len(found)} of {search.scores.size} heads" if found else "no head"
    rule = words.rule.format(search.pattern.threshold)
    named = [f"{_name(layer, head)}{_GAP}{score:.2f}" for layer, head, score in found or ranked[:1]]
    return (
        f"**{title}: {count}** with {rule} (a head that attends evenly has {search.uniform:.2f})"
        f"{': ' if found else '. The closest is '}{_listed(named)}."
    )


def describe_related(
    trace: Trace, found: tuple[RelatedWords, RelatedHeads] | None, scope: Scope
) -> str:
    """Which heads attend to related words, which words those are, and what accident would give."""
    name = next(each for each, known in _SCOPES.items() if known == scope)
    title = WORDS[name].highlight.capitalize()
    missing = _why_not(trace, found, scope)
    if missing or found is None:
        return f"**{title}** cannot be measured here: {missing}."
    words, heads = found
    pairs = _related_pairs(trace, words, scope)
    ranked = heads.ranked()
    holding = [place for place in ranked if heads.holds[place]]
    named = _listed([_with_chance(heads, place) for place in holding or ranked[:1]])
    arrangements = f"{heads.arrangements} random arrangements of the words"
    brackets = "in brackets, the mean and the 99th percentile of the arrangements"
    if not heads.decidable:
        return (
            f"**{title}: too few words to say.** {heads.unmoved} of {arrangements} leave the"
            f" related ones where they are, so no head can be told from accident; a longer text"
            f" has more words. The farthest above accident is {named} ({brackets}). {pairs}"
        )
    count, give = f"{len(holding)} of {heads.scores.size} heads", "give"
    if len(holding) < 2:
        count, give = ("one head" if holding else "no head"), "gives"
    accident = LEVEL * int(np.isfinite(heads.scores).sum())
    return (
        f"**{title}: {count}** {give} them more attention than {_PERCENT} of {arrangements} would"
        f" ({accident:.1f} heads would by accident; {brackets})"
        f"{': ' if holding else '. The closest is '}{named}. {pairs}"
    )


def _why_not(
    trace: Trace, found: tuple[RelatedWords, RelatedHeads] | None, scope: Scope
) -> str | None:
    """What the model or the text lacks, or None."""
    if found is None:
        return f"{quote(trace.model)} has no table of input embeddings that could be read"
    words, heads = found
    if scope == "other" and not any(token.segment == 1 for token in trace.tokens):
        return NO_SECOND
    if heads.pairs == 0:
        split = {
            0: "",
            1: "; one word that the model reads in pieces is left out",
        }.get(words.split, f"; {words.split} words that the model reads in pieces are left out")
        across = "of different sentences " if scope == "other" else ""
        return (
            f"no two words {across}have input embeddings with a cosine above"
            f" {words.threshold:.2f}{split}"
        )
    if heads.arrangements == 0:
        return f"{heads.pairs:,} related pairs are too many to be tested; use a shorter text"
    if not np.isfinite(heads.scores).any():
        return "this model does not permit any of the related words to attend to each other"
    return None


def _related_pairs(trace: Trace, words: RelatedWords, scope: Scope) -> str:
    """The closest related words, with their cosines."""
    tokens = trace.tokens
    named = [
        f"{quote(tokens[one].display)}–{quote(tokens[other].display)}{_GAP}{cosine:.2f}"
        for one, other, cosine in closest_pairs(tokens, words, across=scope == "other")
    ]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return (
        f"Related by the model's own input embeddings, with cosines above {words.threshold:.2f}:"
        f" {', '.join(named[:_NAMED])}{more}."
    )


def _with_chance(heads: RelatedHeads, place: tuple[int, int]) -> str:
    chance = f"({heads.mean[place]:.3f},{_GAP}{heads.upper[place]:.3f})"
    return f"{_name(*place)}{_GAP}{heads.scores[place]:.3f}{_GAP}{chance}"


def _marks(search: Search) -> Marks | None:
    if not search.measurable:
        return None
    pattern = search.pattern
    score = "entropy" if pattern.measured == "entropy" else WORDS[pattern.name].highlight
    return Marks(score, search.scores, search.holds, search.ranked()[0][:2])


def _related_marks(heads: RelatedHeads) -> Marks | None:
    ranked = heads.ranked()
    if not ranked:
        return None
    return Marks("related words", heads.scores, heads.holds, ranked[0])


def _listed(named: list[str]) -> str:
    more = len(named) - _NAMED
    rest = f" and {more} more, numbered in the picture" if more > 0 else ""
    return f"{', '.join(named[:_NAMED])}{rest}"


def _name(layer: int, head: int) -> str:
    return f"L{layer + 1}{_GAP}H{head + 1}"
