"""Clusters of one head's picture: dense groups of points, named by their frequent words.

Words are over-represented in clusters beyond what shuffled words reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull
from scipy.special import gammaln
from sklearn.cluster import HDBSCAN

from core.analysis.arrays import Floats, Indices
from core.atlas.data import Atlas
from core.model.trace import Array

MIN_SHARE, MIN_POINTS = 0.01, 20  # of a cluster: a share of all points, and points
_NEIGHBOURS = 10  # that a point's density is measured by
NAMED_BY = 3  # words in a name
PERMUTATIONS = 999  # the smallest p-value is 0.001
ALPHA = 0.05  # the chance that words without any order name one cluster of the picture or more
MIN_TOKENS = 5  # of a word in the corpus: a rarer one names nothing
MIN_WORD_SHARE = 0.03  # of a cluster's points: fewer do not speak for it
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


@dataclass(frozen=True, eq=False)
class Cluster:
    """A dense group of points.

    Attributes
    ----------
    points : ascending indices of points, queries first, then keys.
    middle : the point of the cluster that is nearest its median.
    edge : in the plane the corners of its convex hull, in order, as indices of points; none in
        space, or where the points lie on one line.
    queries : how many of the points are queries; the rest are keys.
    words : those that are over-represented, the most surprising first.
    """

    points: Indices
    middle: int
    edge: Indices
    queries: int
    words: tuple[Word, ...]

    @property
    def name(self) -> str:
        """The most surprising words; empty where there are no more of any than by chance."""
        return " · ".join(word.text for word in self.words[:NAMED_BY])


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of a picture, the largest first."""

    clusters: tuple[Cluster, ...]
    outside: int  # points that are in none
    permutations: int

    @property
    def named(self) -> tuple[Cluster, ...]:
        """Those that have a name."""
        return tuple(cluster for cluster in self.clusters if cluster.words)


def find_clusters(
    points: Array | Floats,
    displays: Sequence[str],
    permutations: int = PERMUTATIONS,
    *,
    firsts: Indices | None = None,
) -> Clusters:
    """The dense groups of a picture's points, with the words that name them.

    Groups are the leaves of HDBSCAN's tree (Campello et al. 2013) over Euclidean distances in the
    picture, of at least 1 % of its points; points between them belong to none. Tokens that repeat
    another one are no evidence of their own, neither of density nor of words: each shares the
    groups of the first of its kind, and is not counted.

    Parameters
    ----------
    points : (2 token, 2 or 3), queries first.
    displays : what people read of each token.
    firsts : a number of each token, (token,), the same for those that repeat each other; without
        it, none does.
    """
    tokens = np.arange(len(displays)) if firsts is None else firsts
    _, own, kinds = np.unique(tokens, return_index=True, return_inverse=True)
    counted = np.concatenate([own, own + tokens.size])
    found = _clusters(np.asarray(points, dtype=np.float64)[counted])
    count = int(found.max(initial=-1)) + 1
    words = frequent_words(found, count, [displays[i] for i in own], permutations)
    members = found.reshape(2, -1)[:, kinds].ravel()
    clusters = [
        _cluster(points, np.flatnonzero(members == i), counted[found == i], words[i])
        for i in range(count)
    ]
    clusters.sort(key=lambda cluster: -cluster.points.size)
    return Clusters(tuple(clusters), int((members < 0).sum()), permutations)


def _clusters(points: Floats) -> Indices:
    """The group of each point, -1 for none."""
    min_size = max(MIN_POINTS, round(MIN_SHARE * len(points)))
    if len(points) < 2 * min_size or not np.ptp(points, axis=0).any():
        return np.full(len(points), -1, dtype=np.intp)
    found = HDBSCAN(
        min_cluster_size=min_size,
        min_samples=_NEIGHBOURS,
        cluster_selection_method="leaf",
        copy=True,
    ).fit_predict(points)
    return np.asarray(found, dtype=np.intp)


def _cluster(
    points: Array | Floats, members: Indices, counted: Indices, words: Sequence[Word]
) -> Cluster:
    """The cluster of these members; `counted` are those that repeat no other."""
    own = points[counted].astype(np.float64)
    nearest = int(((own - np.median(own, axis=0)) ** 2).sum(axis=1).argmin())
    queries = int((members < len(points) // 2).sum())
    return Cluster(members, int(counted[nearest]), counted[_hull(own)], queries, tuple(words))


def _hull(points: Floats) -> Indices:
    """The corners of the convex hull of points in the plane, as indices, in order."""
    spread = points - points.mean(axis=0)
    if points.shape[1] != 2 or np.linalg.matrix_rank(spread) < 2:
        return np.zeros(0, dtype=np.intp)
    return np.asarray(ConvexHull(points, qhull_options="QJ").vertices, dtype=np.intp)


def first_occurrences(atlas: Atlas) -> Indices:
    """Each token's first occurrence in the same place of the same sentence, (token,).

    It is the token's own index unless its sentence repeats an earlier one token by token: then its
    query and key are those of that one again, in every head. Of images those with the same pixels
    count as repeated.
    """
    starts = np.searchsorted(atlas.tokens.sentence, np.arange(len(atlas.sentences) + 1))
    earlier: dict[Hashable, int] = {}
    firsts = np.arange(len(atlas.tokens))
    for sentence, (start, end) in enumerate(pairwise(starts.tolist())):
        content: Hashable = atlas.tokens.texts[start:end]
        if atlas.images is not None:
            content = atlas.images.pixels[sentence].tobytes()
        firsts[start:end] += earlier.setdefault(content, start) - start
    return firsts


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
    named = (p_values <= ALPHA) & (ratios >= MIN_RATIO) & (shares >= MIN_WORD_SHARE)
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
