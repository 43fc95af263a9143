"""Whether the occurrences of a word lie together in a head's picture, or all over it.

Where they gather in a few clusters the head looks at what a token is; where they are scattered
like tokens drawn at random it looks at something else, such as where a token stands (AttentionViz,
section 5.2, on its search).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array

    Floats = NDArray[np.float64]

CLUSTERS = 3
FEWEST = 2 * CLUSTERS  # matches; fewer are taken as one cluster
MAX_MATCHES = 150  # more are sampled
DRAWS = 3  # of random tokens, to compare with
_ROUNDS = 12  # of moving the centres; they hardly move after six
_SEED = 0


def dispersion(points: Array, matches: NDArray[np.bool_]) -> Floats:
    """Mean distance of matches to their nearest cluster centre, over that of random tokens.

    Parameters
    ----------
    points : (layer, head, 2 token, dimension), queries first, as an atlas has them.
    matches : which tokens match, (token,).

    Returns
    -------
    Float64 (layer, head), the mean of the ratio for queries and for keys: near 0 where matches lie
    in up to three tight clusters, near 1 where they lie as any tokens do. Not a number for fewer
    than two matches, or where all points are one.
    """
    layers, heads, twice, dimensions = points.shape
    size = twice // 2
    places = np.flatnonzero(matches)
    generator = np.random.default_rng(_SEED)
    if places.size < 2:
        return np.full((layers, heads), np.nan)
    if places.size > MAX_MATCHES:
        places = np.sort(generator.choice(places, MAX_MATCHES, replace=False))
    draws = [generator.choice(size, places.size, replace=False) for _ in range(DRAWS)]
    clouds = points.reshape(layers * heads, 2, size, dimensions)
    clusters = clusters_of(places.size)
    found, *others = (
        _spread(clouds[:, :, chosen].reshape(-1, places.size, dimensions), clusters)
        for chosen in (places, *draws)
    )
    usual = np.mean(others, axis=0)
    ratios = np.divide(found, usual, out=np.full_like(found, np.nan), where=usual > 0)
    return np.asarray(ratios.reshape(layers, heads, 2).mean(axis=-1))


def clusters_of(matches: int) -> int:
    """How many centres the distances of so many matches are measured to."""
    return CLUSTERS if matches >= FEWEST else 1


def _spread(clouds: Array, clusters: int) -> Floats:
    """Mean distance of each cloud's points to the nearest of its k-means centres, (cloud,).

    `clouds` is (cloud, point, dimension). All clouds move together: Lloyd's algorithm from centres
    that start as far from each other as possible.
    """
    clouds = clouds - clouds[:, :1]  # so that the middle of equal points is exactly where they are
    centres = _far_apart(clouds, clusters)
    for _ in range(_ROUNDS):
        nearest = _squares(clouds, centres).argmin(axis=-1)  # (cloud, point)
        member = nearest[..., None] == np.arange(clusters)  # (cloud, point, centre)
        counts = member.sum(axis=1)[..., None]
        sums = np.einsum("bpk,bpd->bkd", member.astype(np.float32), clouds)
        centres = np.where(counts > 0, sums / np.maximum(counts, 1), centres)
    return np.sqrt(_squares(clouds, centres).min(axis=-1)).mean(axis=-1, dtype=np.float64)


def _far_apart(clouds: Array, clusters: int) -> Array:
    """The point nearest the middle, then the point farthest from all before it, and so on."""
    each = np.arange(len(clouds))
    first = _squares(clouds, clouds.mean(axis=1, keepdims=True))[..., 0].argmin(axis=1)
    centres = [clouds[each, first]]
    while len(centres) < clusters:
        apart = _squares(clouds, np.stack(centres, axis=1)).min(axis=-1)
        centres.append(clouds[each, apart.argmax(axis=1)])
    return np.stack(centres, axis=1)


def _squares(clouds: Array, centres: Array) -> Array:
    """Squared distances (cloud, point, centre)."""
    return np.asarray(
        sum(
            (clouds[:, :, None, axis] - centres[:, None, :, axis]) ** 2
            for axis in range(clouds.shape[-1])
        )
    )
