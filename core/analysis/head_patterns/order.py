"""In which order the heads of a layer stand: by number, by how focused they are, by likeness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.head_patterns.classes import NAMING
from core.analysis.head_patterns.measure import head_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Trace

Order = Literal["number", "entropy", "similarity"]
ORDERS: tuple[Order, ...] = ("number", "entropy", "similarity")
MOST_LOGARITHMS = 60_000_000  # of a comparison of all heads: about a second on a slow machine


def order_heads(trace: Trace, by: Order) -> NDArray[np.int64]:
    """Heads of each layer in the order they stand, (layer, head), counted from 0.

    - ``number``: as the model counts them.
    - ``entropy``: from the most focused to the broadest.
    - ``similarity``: the leaves of an average-linkage clustering of their Jensen-Shannon distances,
      turned so that neighbours are as alike as the tree permits (Bar-Joseph et al. 2001); of the
      two directions the one that begins with the lower number.
    """
    layers, heads = trace.shape[:2]
    if by == "entropy":
        return np.argsort(head_scores(trace, [NAMING["broad"]])["entropy"], axis=1, kind="stable")
    if by == "number" or heads < 3:
        return np.tile(np.arange(heads), (layers, 1))
    from threadpoolctl import threadpool_limits

    step = token_step(trace)
    with threadpool_limits(1, user_api="blas"):
        rows = [_by_likeness(trace.attention(layer), step) for layer in range(layers)]
    return np.stack(rows)


def token_step(trace: Trace) -> int:
    """Heads are compared on every token, or on each k-th of a text that is long; gives k."""
    layers, heads, tokens, _ = trace.shape
    logarithms = layers * heads * (heads - 1) // 2 * tokens**2
    return max(1, -(-logarithms // MOST_LOGARITHMS))


def head_distances(attention: Array, step: int = 1) -> NDArray[np.float64]:
    """How differently the heads of a layer attend, symmetric float64 (head, head), 0 to 1.

    The Jensen-Shannon distance of two heads' rows for a token, which is the square root of their
    divergence in bits (Endres and Schindelin 2003), averaged over tokens.

    Parameters
    ----------
    attention : (head, token, token).
    step : compare every `step`-th token only.
    """
    rows = attention[:, ::step]
    entropies = _entropy(rows)  # (head, token)
    distances = np.zeros((len(rows), len(rows)))
    for head in range(len(rows) - 1):
        others = slice(head + 1, None)
        mixed = _entropy((rows[others] + rows[head]) / 2)
        divergence = mixed - (entropies[others] + entropies[head]) / 2
        mean = np.sqrt(divergence.clip(0, 1)).mean(axis=-1)
        distances[head, others] = distances[others, head] = mean
    return distances


def _entropy(rows: Array) -> NDArray[np.float64]:
    """Entropy of each row in bits; float64 without the last axis."""
    logarithms = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    return -np.einsum("...i,...i->...", rows, logarithms, dtype=np.float64)


def _by_likeness(attention: Array, step: int) -> NDArray[np.int64]:
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = squareform(head_distances(attention, step), checks=False)
    leaves = leaves_list(linkage(distances, "average", optimal_ordering=True)).astype(np.int64)
    return np.asarray(leaves if leaves[0] < leaves[-1] else leaves[::-1])
