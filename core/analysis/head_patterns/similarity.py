"""Which heads of a model attend alike: distances between all of them, a map, and the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.order import head_distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.model.trace import Trace

    Floats = NDArray[np.float64]

MOST_LOGARITHMS = 60_000_000  # of a whole comparison: about a second on a slow machine
SEED = 0  # of the layout's solver, which starts from the classical solution and draws nothing


@dataclass(frozen=True, eq=False)
class Distances:
    """How differently heads attend.

    Attributes
    ----------
    sums : float64 (head, head), all heads of all layers in order: the Jensen-Shannon distance of
        their rows, summed over the tokens that were compared.
    compared, tokens : how many tokens were compared, of how many.
    """

    sums: Floats
    compared: int
    tokens: int

    @property
    def mean(self) -> Floats:
        """Mean distance, symmetric (head, head), 0 (alike) to 1 (nothing in common)."""
        return self.sums / self.compared


@dataclass(frozen=True, eq=False)
class HeadMap:
    """Heads as points: `points` float64 (head, 2), and Kruskal's `stress` (0 is exact)."""

    points: Floats
    stress: float


def compare_heads(trace: Trace, most_logarithms: int = MOST_LOGARITHMS) -> Distances:
    """Distances of all heads on one text; on every k-th token of a text that is long.

    The Jensen-Shannon distance of two rows of attention is the square root of their divergence in
    bits (Endres and Schindelin 2003). All heads' attention to the tokens compared is in memory.
    """
    from threadpoolctl import threadpool_limits

    layers, heads, tokens, _ = trace.shape
    each = layers * heads * (layers * heads - 1) // 2 * tokens
    step = min(tokens, max(1, -(-each * tokens // most_logarithms)))
    with threadpool_limits(1, user_api="blas"):
        rows = np.concatenate([trace.attention(layer)[:, ::step] for layer in range(layers)])
    compared = rows.shape[1]
    return Distances(head_distances(rows) * compared, compared, tokens)


def add_distances(parts: Sequence[Distances]) -> Distances:
    """Of several texts together."""
    return Distances(
        np.sum([part.sums for part in parts], axis=0),
        sum(part.compared for part in parts),
        sum(part.tokens for part in parts),
    )


def map_heads(distances: Floats) -> HeadMap:
    """Points in a plane whose distances are as near to the given ones as can be found.

    Metric multidimensional scaling: stress is brought down by SMACOF (de Leeuw 1977) from the
    classical solution (Torgerson 1952), so that the same distances give the same map.
    """
    from sklearn.manifold import smacof

    start = classical_map(distances)
    if not distances.any():
        return HeadMap(start, 0.0)
    points, _ = smacof(
        distances, init=start, n_init=1, random_state=SEED, eps=1e-9, normalized_stress=False
    )
    return HeadMap(_turned(np.asarray(points)), stress(distances, points))


def classical_map(distances: Floats) -> Floats:
    """The plane of classical scaling, (head, 2): eigenvectors of the centred squared distances."""
    size = len(distances)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    points = np.zeros((size, 2))
    kept = min(2, size)
    points[:, :kept] = (vectors * np.sqrt(values.clip(0)))[:, ::-1][:, :kept]
    return _turned(points)


def stress(distances: Floats, points: Floats) -> float:
    """Kruskal's stress-1: root of the squared errors over the squared distances in the map."""
    upper = np.triu_indices(len(distances), 1)
    drawn = np.linalg.norm(points[:, None] - points[None], axis=-1)[upper]
    scale = float((drawn**2).sum())
    return float(np.sqrt(((drawn - distances[upper]) ** 2).sum() / scale)) if scale else 0.0


def nearest_heads(distances: Floats, head: int, count: int) -> list[tuple[int, float]]:
    """The heads that attend most alike, nearest first, each with its distance."""
    order = np.argsort(distances[head], kind="stable")
    return [(int(other), float(distances[head, other])) for other in order if other != head][:count]


def _turned(points: Floats) -> Floats:
    """Along the principal axes, each turned so that its farthest point is on the positive side."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T if len(axes) == 2 else centred
    far = turned[np.abs(turned).argmax(axis=0), np.arange(2)]
    return turned * np.where(far < 0, -1, 1)
