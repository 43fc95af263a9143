"""Where two words meet: which heads attend from one to the other, over the sentences with both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.pairs import permitted_pairs
from core.model.trace import softmax

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from core.model.trace import Trace

    Floats = NDArray[np.float64]
    Places = Mapping[int, NDArray[np.intp]]

MAX_SENTENCES = 48  # that are run again for a pair; more are sampled


@dataclass(frozen=True, eq=False)
class Meeting:
    """Attention from a first word to a second one.

    Attributes
    ----------
    sentences : which sentences of the corpus were measured.
    weights : from the first word's tokens (mean) to the second's (sum) in each of them,
        (sentence, layer, head); not a number where the head permits none of these pairs.
    even : the same if every permitted key got as much, (sentence, layer, head).
    """

    sentences: tuple[int, ...]
    weights: Floats
    even: Floats

    @property
    def mean(self) -> Floats:
        """Over the sentences, (layer, head); not a number where none has a permitted pair."""
        return _mean(self.weights)

    @property
    def mean_even(self) -> Floats:
        """Over the sentences, (layer, head)."""
        return _mean(self.even)

    def best_sentences(self, layer: int, head: int, count: int) -> list[tuple[int, float]]:
        """The sentences in which this head does it most, each with the weight."""
        weights = self.weights[:, layer, head]
        order = np.argsort(-np.nan_to_num(weights, nan=-1), kind="stable")[:count]
        return [(self.sentences[i], float(weights[i])) for i in order if np.isfinite(weights[i])]


def common_sentences(first: Places, second: Places) -> list[int]:
    """The sentences that have both words, evenly thinned to ``MAX_SENTENCES``."""
    both = sorted(set(first) & set(second))
    step = max(1.0, len(both) / MAX_SENTENCES)
    return [both[int(i * step)] for i in range(min(len(both), MAX_SENTENCES))]


def meet_words(traces: Iterable[tuple[int, Trace]], first: Places, second: Places) -> Meeting:
    """Attention from the first word to the second, head by head.

    Parameters
    ----------
    traces : of sentences that have both, each with its number.
    first, second : positions of the words' tokens, by sentence.
    """
    sentences, weights, even = [], [], []
    for sentence, trace in traces:
        sentences.append(sentence)
        pair = _between(trace, first[sentence], second[sentence])
        weights.append(pair[0])
        even.append(pair[1])
    order = np.argsort(sentences)
    return Meeting(
        tuple(sentences[i] for i in order), np.stack(weights)[order], np.stack(even)[order]
    )


def _between(
    trace: Trace, queries: NDArray[np.intp], keys: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """What the keys get together, and would get evenly, mean over the queries; (layer, head)."""
    layers, heads = trace.shape[:2]
    weights, even = np.full((layers, heads), np.nan), np.full((layers, heads), np.nan)
    for layer in range(layers):
        attention = softmax(trace.scores(layer)[:, queries])[:, :, keys]  # (head, query, key)
        allowed = permitted_pairs(trace, layer)[:, queries]  # (1 or head, query, token)
        shares = allowed[:, :, keys].sum(axis=-1) / allowed.sum(axis=-1)
        able = allowed[:, :, keys].any(axis=-1) & np.ones((heads, 1), dtype=np.bool_)
        count = able.sum(axis=-1)
        some = count > 0
        given = (attention.sum(axis=-1) * able).sum(axis=-1)
        weights[layer, some] = given[some] / count[some]
        even[layer, some] = (shares * able).sum(axis=-1)[some] / count[some]
    return weights, even


def _mean(values: Floats) -> Floats:
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0).sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
