"""What the patterns page measures on the sample corpus, from the cache or now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.analysis.corpus.sample import sample_sentences
from core.analysis.head_patterns.measure import Measured, measure_text
from core.analysis.head_patterns.similarity import (
    MAX_LOGARITHMS,
    Distances,
    add_distances,
    compare_heads,
)
from core.screens.patterns.shelf import Corpus, corpus_shelf
from core.ui import corpus_walk
from core.ui.corpus_walk import corpus_digest, walk_corpus

if TYPE_CHECKING:
    from core.model import Trace

NAME = "patterns"


@dataclass(eq=False)
class _Gathered:
    """What is known so far, by the sentence's place."""

    measured: dict[int, Measured] = field(default_factory=dict)
    distances: Distances | None = None


def measured_corpus(model_name: str) -> Corpus:
    """The sample corpus, from the cache or measured now, with a progress bar."""
    sentences = sample_sentences()
    digest = corpus_digest(sentences)
    shelf = corpus_shelf(model_name, digest)
    if shelf.found is None:
        max_logarithms = MAX_LOGARITHMS // len(sentences)

        def take(into: _Gathered, place: int, trace: Trace) -> None:
            distances = compare_heads(trace, max_logarithms)
            if into.distances is not None:
                distances = add_distances([into.distances, distances])
            into.distances = distances
            into.measured[place] = measure_text(trace)

        found = walk_corpus(NAME, model_name, sentences, _Gathered, take)
        shelf.found = _corpus(digest, sentences, found)
    kept: Corpus = shelf.found
    return kept


def show_cancelled(model_name: str) -> None:
    """After a Cancel: how far it came."""
    corpus_walk.show_cancelled(NAME, model_name, len(sample_sentences()))


def _corpus(digest: str, sentences: tuple[str, ...], found: _Gathered) -> Corpus:
    places = sorted(found.measured)
    assert found.distances is not None  # noqa: S101 - there is no corpus without a sentence
    return Corpus(
        digest,
        tuple(sentences[place] for place in places),
        tuple(found.measured[place] for place in places),
        found.distances,
    )
