"""What every head does with the pronouns that are marked in built-in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference import BestHead, Resolved, best_head, coreference_table, resolve
from core.analysis.sample_corpus import Sentence, marked_sets
from core.ui import cache
from core.ui.corpus_walk import corpus_digest, walk_corpus

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

NAME = "pronouns"


@dataclass(frozen=True, eq=False)
class MarkedSet:
    """One set of marked sentences, with what every head did, sentence by sentence.

    Attributes
    ----------
    table : from :func:`core.analysis.coreference.coreference_table`; None where no pronoun counts.
    best : how well the best head does on pronouns that did not choose it.
    """

    sentences: tuple[Sentence, ...]
    resolved: tuple[Resolved, ...]
    table: pd.DataFrame | None
    best: BestHead | None


def measured_pronouns(model_name: str) -> dict[str, MarkedSet]:
    """Both sets by name, from the cache or measured now, with a progress bar."""
    sets = marked_sets()
    every = [(name, sentence) for name, sentences in sets.items() for sentence in sentences]
    texts = tuple(sentence.text for _, sentence in every)
    shelf = cache.pronoun_shelf(model_name, corpus_digest(texts))
    if not shelf.sets:

        def take(into: dict[int, Resolved], place: int, trace: Trace) -> None:
            into[place] = resolve(trace, every[place][1])

        resolved = walk_corpus(
            NAME, model_name, texts, _nothing, take, which="the marked pronouns", leave=_leave
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
