"""What every head does with the pronouns that are marked in built-in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference import Resolved, best_head, coreference_table, resolve
from core.analysis.corpus.sample import Sentence, marked_sets
from core.screens.patterns.shelf import MarkedSet, pronoun_shelf
from core.ui.corpus_walk import corpus_digest, walk_corpus

if TYPE_CHECKING:
    from core.model import Trace

NAME = "pronouns"


def measured_pronouns(model_name: str) -> dict[str, MarkedSet]:
    """Both sets by name, from the cache or measured now, with a progress bar."""
    sets = marked_sets()
    every = [(name, sentence) for name, sentences in sets.items() for sentence in sentences]
    texts = tuple(sentence.text for _, sentence in every)
    shelf = pronoun_shelf(model_name, corpus_digest(texts))
    if not shelf.sets:

        def take(into: dict[int, Resolved], place: int, trace: Trace) -> None:
            into[place] = resolve(trace, every[place][1])

        resolved = walk_corpus(
            NAME, model_name, texts, _nothing, take, which="the marked pronouns", on_cancel=_leave
        )
        shelf.sets = {
            name: _judge(
                sentences,
                [resolved[place] for place, (of, _) in enumerate(every) if of == name],
            )
            for name, sentences in sets.items()
        }
    return shelf.sets


def _judge(sentences: tuple[Sentence, ...], resolved: list[Resolved]) -> MarkedSet:
    if not any(each.mentions for each in resolved):
        return MarkedSet(sentences, tuple(resolved), None, None)
    return MarkedSet(sentences, tuple(resolved), coreference_table(resolved), best_head(resolved))


def _nothing() -> dict[int, Resolved]:
    return {}


def _leave() -> None:
    st.session_state["part"] = "heads"
