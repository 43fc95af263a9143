"""Whether the occurrences of a word lie together in a head's picture or are scattered over it.

Where they form a few clusters, the head looks at what a token is; where they scatter like random
tokens, it looks at something else, such as position (AttentionViz, section 5.2, on its search).
"""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.model.trace import Array

CLUSTERS = 3
MIN_FOR_CLUSTERS = 2 * CLUSTERS  # matches; fewer count as one cluster
MAX_MATCHES = 150  # larger searches are sampled
DRAWS = 3  # of random tokens to compare with
_ROUNDS = 12  # of moving the centres, which hardly move after six
_SEED = 0


def dispersion(points: Array, matches: Bools) -> Floats:
    """Mean distance of matches to their nearest cluster centre, relative to random tokens.

    From an atlas's points (layer, head, 2 token, dimension) and which tokens match (token,), the
    mean of the ratios for queries and for keys, float64 (layer, head): near 0 for matches in up to
    three tight clusters, near 1 for matches spread like any tokens. NaN for fewer than two matches,
    or where all points coincide.
    """
    layers, heads, point_count, dimensions = points.shape
    size = point_count // 2
    tokens = np.flatnonzero(matches)
    generator = np.random.default_rng(_SEED)
    if tokens.size < 2:
        return np.full((layers, heads), np.nan)
    if tokens.size > MAX_MATCHES:
        tokens = np.sort(generator.choice(tokens, MAX_MATCHES, replace=False))
    draws = [generator.choice(size, tokens.size, replace=False) for _ in range(DRAWS)]
    clouds = points.reshape(layers * heads, 2, size, dimensions)
    clusters = cluster_count(tokens.size)
    spread, *random_spreads = (
        _spread(clouds[:, :, sample].reshape(-1, tokens.size, dimensions), clusters)
        for sample in (tokens, *draws)
    )
    usual = np.mean(random_spreads, axis=0)
    ratios = np.divide(spread, usual, out=np.full_like(spread, np.nan), where=usual > 0)
    return np.asarray(ratios.reshape(layers, heads, 2).mean(axis=-1))


def cluster_count(matches: int) -> int:
    """How many centres this many matches are measured from."""
    return CLUSTERS if matches >= MIN_FOR_CLUSTERS else 1


def _spread(clouds: Array, clusters: int) -> Floats:
    """Mean distance of each cloud's points to the nearest of its k-means centres, (cloud,).

    `clouds` is (cloud, point, dimension). Lloyd's algorithm on all clouds at once, from centres
    that start as far apart as possible. Ours, because scikit-learn's takes one cloud at a time.
    """
    clouds = clouds - clouds[:, :1]  # makes the mean of equal points exact
    centres = _far_apart(clouds, clusters)
    for _ in range(_ROUNDS):
        nearest = _squares(clouds, centres).argmin(axis=-1)  # (cloud, point)
        member = nearest[..., None] == np.arange(clusters)  # (cloud, point, centre)
        counts = member.sum(axis=1)[..., None]
        sums = np.einsum("bpk,bpd->bkd", member.astype(np.float32), clouds)
        centres = np.where(counts > 0, sums / np.maximum(counts, 1), centres)
    return np.sqrt(_squares(clouds, centres).min(axis=-1)).mean(axis=-1, dtype=np.float64)


def _far_apart(clouds: Array, clusters: int) -> Array:
    """The point nearest the mean, then repeatedly the point farthest from all before it."""
    rows = np.arange(len(clouds))
    first = _squares(clouds, clouds.mean(axis=1, keepdims=True))[..., 0].argmin(axis=1)
    centres = [clouds[rows, first]]
    while len(centres) < clusters:
        squares = _squares(clouds, np.stack(centres, axis=1)).min(axis=-1)
        centres.append(clouds[rows, squares.argmax(axis=1)])
    return np.stack(centres, axis=1)


def _squares(clouds: Array, centres: Array) -> Array:
    """Squared distances (cloud, point, centre), one dimension at a time to save memory."""
    return np.asarray(
        sum(
            (clouds[:, :, None, axis] - centres[:, None, :, axis]) ** 2
            for axis in range(clouds.shape[-1])
        )
    )
