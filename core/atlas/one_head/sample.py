"""Sentences of an atlas drawn at random, run again, and what all heads do in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.analysis.anomalies import corpus_table, measure_heads
from core.analysis.anomalies.flags import Measures
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.measure import Measured, measure_text
from core.atlas.data import Atlas
from core.atlas.one_head.contexts import Contexts, contexts_of, join_contexts
from core.model.trace import Array, Trace

MAX_TOKENS = 2000  # run again: a few seconds with the bundled model
MAX_SENTENCES = 120
_SEED = 0


@dataclass(frozen=True, eq=False)
class HeadSample:
    """What all heads do in a sample of sentences.

    Attributes
    ----------
    contexts : of all heads.
    patterns : as :func:`core.analysis.head_patterns.pattern_table` gives it, without induction.
    anomalies : as :func:`core.analysis.anomalies.corpus_table` gives it.
    exact : whether values count by what the head adds with them, |f(v)|, or by their length.
    sentences, tokens : how many were run.
    """

    contexts: Contexts
    patterns: pd.DataFrame
    anomalies: pd.DataFrame
    exact: bool
    sentences: int
    tokens: int


def draw_sentences(atlas: Atlas, seed: int = _SEED) -> list[int]:
    """Random sentences of the atlas, ascending: up to `MAX_TOKENS` tokens, but at least one."""
    counts = np.bincount(atlas.tokens.sentence, minlength=len(atlas.sentences))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(counts))[:MAX_SENTENCES]
    fitting = max(1, int((np.cumsum(counts[order]) <= MAX_TOKENS).sum()))
    return sorted(int(sentence) for sentence in order[:fitting])


@dataclass(eq=False)
class Gatherer:
    """Takes traces of sentences one by one and keeps what a :class:`HeadSample` needs of each."""

    _contexts: list[Contexts] = field(default_factory=list)
    _patterns: list[Measured] = field(default_factory=list)
    _anomalies: list[Measures] = field(default_factory=list)
    _numbers: tuple[int, ...] = ()
    _tokens: int = 0
    _exact: bool = True

    def take(self, sentence: int, trace: Trace, transformed: Array | None) -> None:
        """A sentence of the atlas; `transformed` as in :func:`measure_heads`."""
        self._contexts.append(contexts_of(trace, sentence))
        self._patterns.append(measure_text(trace))
        self._anomalies.append(measure_heads(trace, transformed))
        self._numbers = trace.layer_labels
        self._tokens += len(trace.tokens)
        self._exact &= transformed is not None

    def result(self) -> HeadSample:
        """Raises ValueError where nothing was taken."""
        if not self._contexts:
            raise ValueError("no sentence was run")
        return HeadSample(
            join_contexts(self._contexts),
            pattern_table(self._patterns),
            corpus_table(self._anomalies, self._numbers, exact=self._exact),
            self._exact,
            len(self._contexts),
            self._tokens,
        )
