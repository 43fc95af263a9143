"""Words that are over-represented in clusters, beyond what shuffled words reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from core.analysis.arrays import Floats, Indices

PERMUTATIONS = 999  # the smallest p-value is 0.001
ALPHA = 0.05  # the chance that words without any order name one cluster of the picture or more
MIN_TOKENS = 5  # of a word in the corpus: a rarer one names nothing
MIN_SHARE = 0.03  # of a cluster's points: fewer do not speak for it
MIN_RATIO = 1.5  # a word that is hardly more frequent than elsewhere describes no cluster
_SEED = 0


@dataclass(frozen=True)
class Word:
    """A word that is over-represented in a cluster.

    Attributes
    ----------
    text : in its most common spelling.
    inside, total : its points (queries and keys) in the cluster, and in the whole picture.
    share : of the cluster's points.
    ratio : this share by its share of all points.
    p : by permutation, corrected for all words and all clusters.
    """

    text: str
    inside: int
    total: int
    share: float
    ratio: float
    p: float


def frequent_words(
    members: Indices, cluster_count: int, displays: Sequence[str], permutations: int = PERMUTATIONS
) -> list[list[Word]]:
    """Of each cluster the words that are over-represented in it, the most surprising first.

    Such a word is as frequent in fewer than 5 % of shuffled pictures in any cluster, makes up 3 %
    of the cluster's points or more, and 1.5 times the share that it has of all points.

    The statistic is the hypergeometric tail: how improbable so many points of the word are in a
    cluster of this size. What chance gives is measured and not assumed: the words are shuffled over
    the tokens (a token's query and key keep one word), and the largest statistic of all words and
    clusters counts (Westfall and Young 1993, single-step), so that the p-values are corrected
    for both. This takes the tokens as exchangeable, so none may repeat another one.

    Parameters
    ----------
    members : (2 token,), the cluster of each query and then of each key; -1 for none.
    displays : the word of each token; case is ignored.
    """
    names, codes = _vocabulary(displays)
    if not cluster_count or not names:
        return [[] for _ in range(cluster_count)]
    sides = members.reshape(2, -1)
    sizes = np.bincount(members[members >= 0], minlength=cluster_count)
    totals = 2 * np.bincount(codes[codes >= 0], minlength=len(names))
    tails = _Tails(members.size, sizes, totals)
    counts = _counts(sides, codes, cluster_count, len(names))
    statistics = tails.of(counts)
    generator = np.random.default_rng(_SEED)
    largest = np.sort(
        [
            tails.of(_counts(sides, generator.permutation(codes), cluster_count, len(names))).max()
            for _ in range(permutations)
        ]
    )
    reached = permutations - np.searchsorted(largest, statistics - 1e-9, side="left")
    p_values = (1 + reached) / (permutations + 1)
    shares = counts / np.maximum(sizes, 1)[:, None]
    ratios = shares / (totals / members.size)
    named = (p_values <= ALPHA) & (ratios >= MIN_RATIO) & (shares >= MIN_SHARE)
    order = np.argsort(-statistics, axis=1, kind="stable")
    return [
        [
            Word(
                names[word],
                int(counts[cluster, word]),
                int(totals[word]),
                float(shares[cluster, word]),
                float(ratios[cluster, word]),
                float(p_values[cluster, word]),
            )
            for word in order[cluster]
            if named[cluster, word]
        ]
        for cluster in range(cluster_count)
    ]


def _vocabulary(displays: Sequence[str]) -> tuple[list[str], Indices]:
    """The words of at least `MIN_TOKENS` tokens as they are mostly spelled; each token's, or -1."""
    spellings: dict[str, Counter[str]] = {}
    for spelling, count in Counter(displays).items():
        spellings.setdefault(spelling.casefold(), Counter())[spelling] = count
    common = [word for word, own in spellings.items() if own.total() >= MIN_TOKENS]
    numbers = {word: number for number, word in enumerate(common)}
    codes = np.array([numbers.get(display.casefold(), -1) for display in displays], dtype=np.intp)
    return [spellings[word].most_common(1)[0][0] for word in common], codes


def _counts(sides: Indices, codes: Indices, cluster_count: int, word_count: int) -> Indices:
    """Points by cluster and word, (cluster, word)."""
    inside = (sides >= 0) & (codes >= 0)
    cells = (sides * word_count + codes)[inside]
    return np.bincount(cells, minlength=cluster_count * word_count).reshape(
        cluster_count, word_count
    )


class _Tails:
    """Minus the log of P(count or more) for every cluster and word, looked up.

    Clusters of `sizes` and words of `totals` points among `points`. Words that are equally frequent
    share their entries, so that permutations cost no more than a look at the table.
    """

    def __init__(self, points: int, sizes: Indices, totals: Indices) -> None:
        """Fill the table, (cluster, entry)."""
        frequencies, kinds = np.unique(totals, return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(frequencies + 1)])
        self._table = np.hstack([_tail(points, sizes, int(each)) for each in frequencies])
        self._starts = starts[kinds]

    def of(self, counts: Indices) -> Floats:
        """Of counts (cluster, word)."""
        return np.take_along_axis(self._table, self._starts + counts, axis=1)


def _tail(points: int, sizes: Indices, total: int) -> Floats:
    """-log P(X >= k), X hypergeometric, for k from 0 to `total`, (cluster, total + 1)."""
    k = np.arange(total + 1)
    rest = sizes[:, None] - k  # points of the cluster that are of other words
    possible = (rest >= 0) & (rest <= points - total)
    log_pmf = (
        _log_choose(total, k)
        + _log_choose(points - total, np.where(possible, rest, 0))
        - _log_choose(points, sizes)[:, None]
    )
    log_pmf = np.where(possible, log_pmf, -np.inf)
    tail = np.logaddexp.accumulate(log_pmf[:, ::-1], axis=1)[:, ::-1]
    return -np.minimum(tail, 0)


def _log_choose(n: int, k: Indices) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
