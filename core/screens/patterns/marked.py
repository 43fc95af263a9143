"""What every head does with the pronouns that are marked in built-in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.coreference import BestHead, Resolved, best_head, coreference_table, resolve
from core.analysis.corpus.sample import Sentence, marked_sets
from core.ui.cache import MAX_CORPORA
from core.ui.corpus_walk import corpus_digest, walk_corpus

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

NAME = "pronouns"


@dataclass(frozen=True, eq=False)
class MarkedSet:
    """One set of marked sentences in which pronouns count, and what every head did with them.

    Attributes
    ----------
    table : from :func:`core.analysis.coreference.coreference_table`.
    best : how well the best head does on pronouns that did not choose it.
    """

    sentences: tuple[Sentence, ...]
    resolved: tuple[Resolved, ...]
    table: pd.DataFrame
    best: BestHead | None


@st.cache_resource(max_entries=MAX_CORPORA, show_spinner=False)
def _marked_sets(
    model_name: str,  # noqa: ARG001 - part of the key
    digest: str,  # noqa: ARG001 - likewise
) -> list[dict[str, MarkedSet]]:
    """A place for the measured sets by name, shared by all visitors; empty at first."""
    return []


def measured_pronouns(model_name: str) -> dict[str, MarkedSet]:
    """The sets in which pronouns count, from the cache or measured now, with a progress bar."""
    marked = [(name, each) for name, sentences in marked_sets().items() for each in sentences]
    texts = tuple(sentence.text for _, sentence in marked)
    measured = _marked_sets(model_name, corpus_digest(texts))
    if not measured:

        def take(gathered: dict[int, Resolved], index: int, trace: Trace) -> None:
            gathered[index] = resolve(trace, marked[index][1])

        resolved: dict[int, Resolved] = walk_corpus(
            NAME, model_name, texts, dict, take, which="the marked pronouns", on_cancel=_leave
        )
        sets = {}
        for name, sentences in marked_sets().items():
            members = tuple(resolved[i] for i, (owner, _) in enumerate(marked) if owner == name)
            if any(each.mentions for each in members):
                table = coreference_table(members)
                sets[name] = MarkedSet(sentences, members, table, best_head(members))
        measured.append(sets)
    return measured[0]


def _leave() -> None:
    st.session_state["part"] = "heads"
