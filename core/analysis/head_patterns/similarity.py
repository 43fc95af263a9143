"""How similarly heads attend: distances between heads, a map of them, and nearest heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, one_thread
from core.model.trace import Array, Trace

_ROUNDING = 1e-4  # rows that sum to one within this have no learned sink
MAX_LOGARITHMS = 60_000_000  # per comparison of all heads: about a second on a slow machine


@dataclass(frozen=True, eq=False)
class Distances:
    """How differently heads attend."""

    # The Jensen-Shannon distance of their rows, summed over the compared tokens, (head, head) for
    # all heads of all layers in order
    sums: Floats
    compared: int  # how many tokens were compared
    tokens: int  # out of how many

    @property
    def mean(self) -> Floats:
        """Mean distance, symmetric (head, head), from 0 (same attention) to 1 (no overlap)."""
        return self.sums / self.compared


@dataclass(frozen=True, eq=False)
class HeadMap:
    """Heads as points: `points` float64 (head, 2), and Kruskal's `stress` (0 is exact)."""

    points: Floats
    stress: float


def head_distances(rows: Array) -> Floats:
    """How differently heads attend, symmetric float64 (head, head), 0 to 1.

    The Jensen-Shannon distance of two heads' rows for a token is the square root of their
    divergence in bits (Endres and Schindelin 2003); this is its mean over the tokens compared,
    whose attention `rows` is (head, compared token, key token). Where a row sums to less than one,
    the rest went to the head's learned sink, which is treated as one more key.
    """
    sinks = np.maximum(1 - rows.sum(axis=-1, keepdims=True), 0)
    if sinks.max(initial=0.0) > _ROUNDING:
        rows = np.concatenate([rows, sinks], axis=-1)
    # Halves of two rows add up to their mean. No logarithm of zero is taken: 0 log 0 counts as 0.
    halves = np.maximum(rows / 2, np.finfo(rows.dtype).tiny)
    entropies = _entropy(halves * 2)  # (head, token)
    distances = np.zeros((len(rows), len(rows)))
    means, logarithms = np.empty_like(halves), np.empty_like(halves)
    for head in range(len(rows) - 1):
        others = slice(head + 1, None)
        np.add(halves[others], halves[head], out=means[others])
        mixed = _entropy(means[others], logarithms[others])
        divergence = mixed - (entropies[others] + entropies[head]) / 2
        mean = np.sqrt(divergence.clip(0, 1)).mean(axis=-1)
        distances[head, others] = distances[others, head] = mean
    return distances


def _entropy(rows: Array, logarithms: Array | None = None) -> Floats:
    """Entropy of each row in bits; float64 without the last axis. All of `rows` is above 0.

    The second array is overwritten.
    """
    logarithms = np.log(rows, out=logarithms)  # natural: NumPy has no fast log2 on every processor
    return np.einsum("...i,...i->...", rows, logarithms, dtype=np.float64) / -np.log(2)


def compare_heads(trace: Trace, max_logarithms: int = MAX_LOGARITHMS) -> Distances:
    """Distances between all heads on one text; long texts are compared on every k-th token only.

    Holds all heads' attention from the compared tokens in memory at once.
    """
    layers, heads, tokens, _ = trace.shape
    pairs = layers * heads * (layers * heads - 1) // 2
    weights = tokens * len(trace.key_tokens)
    step = min(tokens, max(1, -(-pairs * weights // max_logarithms)))
    with one_thread():
        rows = np.concatenate([trace.attention(layer)[:, ::step] for layer in range(layers)])
    compared = rows.shape[1]
    return Distances(head_distances(rows) * compared, compared, tokens)


def add_distances(parts: Sequence[Distances]) -> Distances:
    """The distances over several texts, added up."""
    return Distances(
        np.sum([part.sums for part in parts], axis=0),
        sum(part.compared for part in parts),
        sum(part.tokens for part in parts),
    )


def map_heads(distances: Floats) -> HeadMap:
    """Points in a plane whose distances approximate the given ones.

    Metric multidimensional scaling: SMACOF (de Leeuw 1977) lowers the stress from the classical
    solution (Torgerson 1952), so the same distances always give the same map.
    """
    from sklearn.manifold import ClassicalMDS, smacof

    if not distances.any():
        return HeadMap(np.zeros((len(distances), 2)), 0.0)
    start = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(distances)
    points, _ = smacof(
        distances, init=start, n_init=1, random_state=0, eps=1e-9, normalized_stress=False
    )
    return HeadMap(_align(np.asarray(points)), stress(distances, points))


def stress(distances: Floats, points: Floats) -> float:
    """Kruskal's stress-1: root of the squared errors over the squared distances in the map."""
    upper = np.triu_indices(len(distances), 1)
    in_map = np.linalg.norm(points[:, None] - points[None], axis=-1)[upper]
    scale = float((in_map**2).sum())
    return float(np.sqrt(((in_map - distances[upper]) ** 2).sum() / scale)) if scale else 0.0


def nearest_heads(distances: Floats, head: int, count: int) -> list[tuple[int, float]]:
    """The `count` heads nearest to a head, nearest first, each with its distance."""
    order = np.argsort(distances[head], kind="stable")
    return [(int(other), float(distances[head, other])) for other in order if other != head][:count]


def _align(points: Floats) -> Floats:
    """Turned to the principal axes, each flipped so that its farthest point is positive."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T if len(axes) == 2 else centred
    far = turned[np.abs(turned).argmax(axis=0), np.arange(2)]
    return turned * np.where(far < 0, -1, 1)
