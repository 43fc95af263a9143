"""What the model view can highlight, and what it says about the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.head_patterns.registry import CHANCE_LEVEL
from core.analysis.head_patterns.search import Search, find_heads
from core.analysis.related_words.heads import RelatedHeads, Scope, related_heads
from core.analysis.related_words.words import (
    RelatedWords,
    closest_pairs,
    measure_vocabulary,
    related_words,
)
from core.components.model_view import Marks
from core.model.weights.embeddings import sample_embeddings, token_embeddings
from core.screens.model_view import cached
from core.ui import cache, python
from core.ui.words.messages import quote
from core.ui.words.pattern_words import NO_SECOND, WORDS, words_for
from core.vocabulary import head_name, percent

if TYPE_CHECKING:
    from core.model import Trace

_SCOPES: dict[str, Scope] = {"related": "text", "related_other": "other"}
_GAP = "\N{NO-BREAK SPACE}"
_MAX_NAMED = 6  # heads, or pairs of words, that the sentence names; in the picture all are marked


def highlight(trace: Trace, name: str, key: cache.TraceKey) -> Marks | None:
    """Say which heads follow the pattern, and return what is written on the tiles.

    The text is measured as a whole, whatever tokens are hidden; `key` is what it is cached by.
    """
    if name == "none":
        return None
    if name not in _SCOPES:
        search = python.shown("found", find_heads, trace, name)
        st.markdown(_describe(trace, search))
        if not search.measurable:
            return None
        pattern = search.pattern
        score = (
            "entropy" if pattern.measured == "entropy" else words_for(trace)[pattern.name].highlight
        )
        return Marks(score, search.scores, search.holds, search.ranked()[0][:2])
    related = _related(trace, _SCOPES[name], key)
    st.markdown(_describe_related(trace, related, name))
    if related is None or not (ranked := related[1].ranked()):
        return None
    return Marks("related words", related[1].scores, related[1].holds, ranked[0])


def _related(
    trace: Trace, scope: Scope, key: cache.TraceKey
) -> tuple[RelatedWords, RelatedHeads] | None:
    related = cached.related(key, scope)
    if related is not None:
        vocabulary = python.call(measure_vocabulary, python.call(sample_embeddings, python.MODEL))
        vectors = python.call(token_embeddings, python.MODEL, trace)
        tokens = python.call(getattr, trace, "tokens")
        words, heads = related
        python.made("words", words, python.call(related_words, tokens, vectors, vocabulary))
        python.made("related", heads, python.call(related_heads, trace, words, scope))
    return related


def _describe(trace: Trace, search: Search) -> str:
    """One paragraph of Markdown, true for any text."""
    words = words_for(trace)[search.pattern.name]
    title = words.highlight.capitalize()
    if not search.measurable:
        return f"**{title}** cannot be measured here: {words.lacks}."
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


def _describe_related(
    trace: Trace, related: tuple[RelatedWords, RelatedHeads] | None, name: str
) -> str:
    """Which heads attend to related words, which words those are, and what chance would give."""
    title = WORDS[name].highlight.capitalize()
    problem = _why_not(trace, related, _SCOPES[name])
    if problem or related is None:
        return f"**{title}** cannot be measured here: {problem}."
    words, heads = related
    pairs = _closest_words(trace, words, _SCOPES[name])
    ranked = heads.ranked()
    holding = [place for place in ranked if heads.holds[place]]
    named = _list([_with_chance(trace, heads, place) for place in holding or ranked[:1]])
    arrangements = f"{heads.arrangements} random arrangements of the words"
    brackets = "in brackets, the mean and the 99th percentile of the arrangements"
    if not heads.decidable:
        return (
            f"**{title}: too few words to say.** {heads.unmoved} of {arrangements} leave the"
            " related ones where they are, so no head can be told from chance; a longer text"
            f" has more words. The furthest above chance is {named} ({brackets}). {pairs}"
        )
    count, give = f"{len(holding)} of {heads.scores.size} heads", "give"
    if len(holding) < 2:
        count, give = ("one head" if holding else "no head"), "gives"
    by_chance = CHANCE_LEVEL * int(np.isfinite(heads.scores).sum())
    return (
        f"**{title}: {count}** {give} them more attention than {percent(1 - CHANCE_LEVEL)} of"
        f" {arrangements} would ({by_chance:.1f} heads would by chance; {brackets})"
        f"{': ' if holding else '. The closest is '}{named}. {pairs}"
    )


def _why_not(
    trace: Trace, related: tuple[RelatedWords, RelatedHeads] | None, scope: Scope
) -> str | None:
    """What the model or the text lacks, or None."""
    if related is None:
        return f"{quote(trace.model)} has no table of input embeddings that could be read"
    words, heads = related
    if scope == "other" and not any(token.segment == 1 for token in trace.tokens):
        return NO_SECOND
    if heads.pairs == 0:
        split = f"; {words.split} words that the model reads in pieces are left out"
        if words.split == 1:
            split = "; one word that the model reads in pieces is left out"
        return (
            f"no two words {'of different sentences ' if scope == 'other' else ''}have input"
            f" embeddings with a cosine above {words.threshold:.2f}{split if words.split else ''}"
        )
    if heads.arrangements == 0:
        return f"{heads.pairs:,} related pairs are too many to test; use a shorter text"
    if not np.isfinite(heads.scores).any():
        return "this model does not permit any of the related words to attend to each other"
    return None


def _closest_words(trace: Trace, words: RelatedWords, scope: Scope) -> str:
    """The closest related words, with their cosines."""
    tokens = trace.tokens
    pairs = [
        f"{quote(tokens[first].display)}–{quote(tokens[second].display)}{_GAP}{cosine:.2f}"
        for first, second, cosine in closest_pairs(tokens, words, across=scope == "other")
    ]
    return (
        f"Related by the model's own input embeddings, with cosines above {words.threshold:.2f}:"
        f" {_list(pairs, '')}."
    )


def _with_chance(trace: Trace, heads: RelatedHeads, place: tuple[int, int]) -> str:
    chance = f"({heads.mean[place]:.3f},{_GAP}{heads.upper[place]:.3f})"
    return f"{_name(trace, *place)}{_GAP}{heads.scores[place]:.3f}{_GAP}{chance}"


def _list(names: list[str], where: str = ", numbered in the picture") -> str:
    more = len(names) - _MAX_NAMED
    return f"{', '.join(names[:_MAX_NAMED])}{f' and {more} more{where}' if more > 0 else ''}"


def _name(trace: Trace, layer: int, head: int) -> str:
    return head_name(trace, layer, head).replace(" ", _GAP)
