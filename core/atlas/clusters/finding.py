"""Dense groups of one head's points, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull
from sklearn.cluster import HDBSCAN

from core.analysis.arrays import Floats, Indices
from core.atlas.clusters.words import PERMUTATIONS, Word, frequent_words
from core.model.trace import Array

MIN_SHARE, MIN_POINTS = 0.01, 20  # of a cluster: a share of all points, and points
_NEIGHBOURS = 10  # that a point's density is measured by
NAMED_BY = 3  # words in a name


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
