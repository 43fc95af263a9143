"""Where two words meet: which heads attend from one to the other, over the sentences with both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, Indices, mean_of_finite
from core.analysis.pairs import permitted_pairs
from core.model.trace import Trace

Positions = Mapping[int, Indices]
MAX_SENTENCES = 48  # run again for a pair of words; more are sampled


@dataclass(frozen=True, eq=False)
class Meeting:
    """Attention from a first word to a second one."""

    sentences: tuple[int, ...]  # which sentences of the corpus were measured
    # From the first word's tokens (mean) to the second's (sum) in each of them, (sentence, layer,
    # head); NaN where the head permits none of these pairs
    weights: Floats
    baselines: Floats  # the same if every permitted key got equal attention
    adjacent: int  # sentences in which the second word comes right before the first

    @property
    def mean(self) -> Floats:
        """Mean weight over the sentences, (layer, head); NaN where none has a permitted pair."""
        return mean_of_finite(self.weights)

    @property
    def uniform_baseline(self) -> Floats:
        """Mean baseline over the sentences, (layer, head)."""
        return mean_of_finite(self.baselines)

    def best_sentences(self, layer: int, head: int, count: int) -> list[tuple[int, float]]:
        """The sentences in which this head does it most, each with its weight."""
        weights = self.weights[:, layer, head]
        order = np.argsort(-np.nan_to_num(weights, nan=-1), kind="stable")[:count]
        return [(self.sentences[i], float(weights[i])) for i in order if np.isfinite(weights[i])]


def common_sentences(first: Positions, second: Positions) -> list[int]:
    """The sentences that have both words, evenly thinned to ``MAX_SENTENCES``."""
    both = sorted(set(first) & set(second))
    step = max(1.0, len(both) / MAX_SENTENCES)
    return [both[int(i * step)] for i in range(min(len(both), MAX_SENTENCES))]


def meet_words(traces: Iterable[tuple[int, Trace]], first: Positions, second: Positions) -> Meeting:
    """Attention from the first word to the second, head by head.

    From the `traces` of sentences that have both, each with its number, and the positions of the
    words' tokens by sentence.
    """
    measured = {
        sentence: _between(trace, first[sentence], second[sentence]) for sentence, trace in traces
    }
    sentences = tuple(sorted(measured))
    weights, baselines = zip(*(measured[sentence] for sentence in sentences), strict=True)
    adjacent = sum(bool(np.isin(first[each] - 1, second[each]).any()) for each in sentences)
    return Meeting(sentences, np.stack(weights), np.stack(baselines), adjacent)


def _between(trace: Trace, queries: Indices, keys: Indices) -> tuple[Floats, Floats]:
    """What the keys get together, and their uniform baseline, mean over queries; (layer, head)."""
    layers, heads = trace.shape[:2]
    weights, baselines = np.full((2, layers, heads), np.nan)
    for layer in range(layers):
        scores = trace.scores(layer)[:, queries]
        attention = trace.layers[layer].weights(scores)[:, :, keys]  # (head, query, key)
        permitted = permitted_pairs(trace, layer)[:, queries]  # (1 or head, query, token)
        shares = permitted[:, :, keys].sum(axis=-1) / permitted.sum(axis=-1)
        counted = permitted[:, :, keys].any(axis=-1) & np.ones((heads, 1), dtype=np.bool_)
        count = counted.sum(axis=-1)
        some = count > 0
        weights[layer, some] = (attention.sum(axis=-1) * counted).sum(axis=-1)[some] / count[some]
        baselines[layer, some] = (shares * counted).sum(axis=-1)[some] / count[some]
    return weights, baselines
