"""How far a picture of queries and keys can be trusted: what it keeps of the head's attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from core.analysis.normalization import pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.joint_embedding import Embedding

    Floats = NDArray[np.float64]

Reading = Literal["distance", "inner product"]


class Faithfulness(NamedTuple):
    """What a picture keeps.

    `correlation` is of distance (or inner product) in the picture with the logits, over permitted
    pairs; `top1` and `top3` are the shares of each query's first one or three keys that are also
    its nearest in the picture. Not a number where it is not defined.
    """

    correlation: float
    top1: float
    top3: float


def faithfulness(
    logits: Floats,
    allowed: NDArray[np.bool_],
    picture: Embedding,
    reading: Reading = "distance",
) -> Faithfulness:
    """Compare a picture with the logits it stands for.

    Parameters
    ----------
    logits : (token, token), query by key. A constant added to a row changes no share, but does
        change the correlation.
    allowed : (token, token), the pairs that count.
    reading : near means a small distance, or a large inner product.
    """
    nearness = inner_products(picture) if reading == "inner product" else -plane_distances(picture)
    measured = nearness if reading == "inner product" else -nearness
    return Faithfulness(
        pearson(measured[allowed], logits[allowed]),
        shared_share(logits, nearness, allowed, 1),
        shared_share(logits, nearness, allowed, 3),
    )


def chance(allowed: NDArray[np.bool_]) -> Faithfulness:
    """What random points reach on average: `k` of `m` keys meet `k` others with share k / m."""
    keys = allowed.sum(axis=1)
    keys = keys[keys > 0]
    if not keys.size:
        return Faithfulness(0.0, float("nan"), float("nan"))
    return Faithfulness(0.0, *(float((np.minimum(k, keys) / keys).mean()) for k in (1, 3)))


def plane_distances(picture: Embedding) -> Floats:
    """Euclidean distance of every query to every key in the picture, (token, token)."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(picture.queries, picture.keys))


def inner_products(picture: Embedding) -> Floats:
    """Inner product of every query with every key in the picture, (token, token)."""
    return np.asarray(picture.queries @ picture.keys.T)


def shared_share(logits: Floats, nearness: Floats, allowed: NDArray[np.bool_], k: int) -> float:
    """Share of each query's `k` strongest permitted keys that are among its `k` nearest.

    Mean over queries; a query with fewer than `k` permitted keys counts with those it has.
    """
    shares = []
    for row, near, mine in zip(logits, nearness, allowed, strict=True):
        keys = np.flatnonzero(mine)
        count = min(k, keys.size)
        if not count:
            continue
        # Stable: of equals the earlier key comes first, in both orders alike.
        strongest = keys[np.argsort(-row[keys], kind="stable")[:count]]
        nearest = keys[np.argsort(-near[keys], kind="stable")[:count]]
        shares.append(np.intersect1d(strongest, nearest).size / count)
    return float(np.mean(shares)) if shares else float("nan")
