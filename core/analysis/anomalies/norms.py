"""Queries and keys as clouds: how long their vectors are, and whether they can be told apart."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.normalization import key_translation
from core.model.trace import Trace

MAX_POINTS = 192  # tokens, evenly spaced: distances of all pairs grow with the square
MIN_POINTS = 3  # tokens; with fewer there is nothing left to compare with
TIE = 1e-6  # relative; distances that differ by less are equal


def vector_norms(trace: Trace) -> tuple[Floats, Floats]:
    """|q| and |k| of every head, float64 (layer, head, token) and (layer, head, key token)."""
    query, key = (
        np.linalg.norm(vectors, axis=-1).astype(np.float64)
        for vectors in (trace.queries, trace.kv_keys)
    )
    return query, np.repeat(key, trace.group, axis=1)


def norm_disparity(trace: Trace) -> dict[str, Floats]:
    """Lengths of queries and keys of every head, (layer, head) each, in the model's own units.

    ``query_norm``, ``key_norm``: mean length; ``norm_difference``: mean |q| - mean |k|
    (AttentionViz, Yeh et al. 2023, section 5.1.1); ``norm_log_ratio``: log2 of median |q| over
    median |k|, nan where either is 0; ``centroid_distance``, ``centroid_distance_after``: distance
    of the centroids, as recorded and after key translation, which leaves only rounding.
    """
    query, key = vector_norms(trace)
    query_median, key_median = np.median(query, axis=-1), np.median(key, axis=-1)
    ratio = np.full(query_median.shape, np.nan)
    defined = (query_median > 0) & (key_median > 0)
    ratio[defined] = np.log2(query_median[defined] / key_median[defined])
    shift = key_translation(trace.queries, trace.keys)
    moved = trace.keys + shift[..., None, :].astype(np.float32)
    if trace.source is None:  # token by token, which rounds less
        rest = (trace.queries - moved).mean(axis=-2, dtype=np.float64)
    else:
        rest = trace.queries.mean(axis=-2, dtype=np.float64) - moved.mean(axis=-2, dtype=np.float64)
    return {
        "query_norm": query.mean(axis=-1),
        "key_norm": key.mean(axis=-1),
        "norm_difference": query.mean(axis=-1) - key.mean(axis=-1),
        "norm_log_ratio": ratio,
        "centroid_distance": np.linalg.norm(shift, axis=-1),
        "centroid_distance_after": np.linalg.norm(rest, axis=-1),
    }


def separability(trace: Trace) -> Floats:
    """How well queries and keys of a head can be told apart once their centroids coincide.

    The share of vectors recognised as query or key by the other tokens alone, float64 (layer,
    head): these give the translation, and the vector goes to the cloud from which its energy
    distance is smaller, the mean distance to its members less half their mean distance from each
    other (Szekely and Rizzo 2013). 0.5 is guessing: one cloud. 1: apart. nan for fewer than
    `MIN_POINTS` tokens; of long texts, `MAX_POINTS` tokens, evenly spaced, are used. In cross
    attention queries and keys have no tokens in common: each vector is judged by all others, and
    the shares of queries and of keys count alike, however many there are.

    After translation the means are equal, so Fisher's criterion is 0 and a straight cut sees only
    skew. This also sees one cloud inside the other, and clouds along different directions.
    """
    layers, heads, tokens, _ = trace.shape
    sizes = tokens, len(trace.key_tokens)
    if min(sizes) < MIN_POINTS:
        return np.full((layers, heads), np.nan)
    queries, keys = (_evenly_spaced(size) for size in sizes)
    groups = np.arange(heads) // trace.group
    share = _share_recognised if trace.source is None else _share_of_two_texts
    return np.stack(
        [
            share(
                trace.queries[layer][:, queries].astype(np.float64),
                trace.kv_keys[layer][groups][:, keys].astype(np.float64),
            )
            for layer in range(layers)
        ]
    )


def _evenly_spaced(size: int) -> Indices:
    """At most `MAX_POINTS` of so many positions."""
    return np.unique(np.linspace(0, size - 1, min(size, MAX_POINTS)).round().astype(np.intp))


def _share_recognised(queries: Floats, keys: Floats) -> Floats:
    """Share of vectors (head, token, dim) that go to their own cloud, (head,)."""
    size = queries.shape[1]
    # Without token i the translation is a_i = (n a - (q_i - k_i)) / (n - 1), (head, token, dim).
    difference = queries - keys
    moves = (size * difference.mean(axis=1, keepdims=True) - difference) / (size - 1)
    within_q, within_k = _distances(queries, queries), _distances(keys, keys)
    spread_q, spread_k = _spread_without(within_q), _spread_without(within_k)
    to_keys = _mean_of_others(_distances(queries - moves, keys)) - spread_k
    to_queries = _mean_of_others(_distances(keys + moves, queries)) - spread_q
    recognised = [
        _nearer(_mean_of_others(within_q) - spread_q, to_keys),
        _nearer(_mean_of_others(within_k) - spread_k, to_queries),
    ]
    return np.asarray(np.concatenate(recognised, axis=1).mean(axis=1))


def _share_of_two_texts(queries: Floats, keys: Floats) -> Floats:
    """The same, (head,), where no query (head, token, dim) shares a token with a key."""
    shares = [_share_kept(*clouds) for clouds in ((queries, keys), (keys, queries))]
    return np.asarray(np.mean(shares, axis=0))


def _share_kept(cloud: Floats, other: Floats) -> Floats:
    """Share of one cloud's vectors (head, token, dim) that go to it and not to the other, (head,).

    The centroids are brought together without the vector that is judged.
    """
    size, others = cloud.shape[1], other.shape[1]
    rest = (size * cloud.mean(axis=1, keepdims=True) - cloud) / (size - 1)  # centroids without each
    moved = cloud - (rest - other.mean(axis=1, keepdims=True))
    within, within_other = _distances(cloud, cloud), _distances(other, other)
    spread_other = within_other.sum(axis=(1, 2)) / (2 * others * (others - 1))
    to_other = _distances(moved, other).mean(axis=2) - spread_other[:, None]
    kept = _nearer(_mean_of_others(within) - _spread_without(within), to_other)
    return np.asarray(kept.mean(axis=1))


def _mean_of_others(distances: Floats) -> Floats:
    """Mean distance of each point to all but its own token's, (head, token)."""
    own = np.einsum("htt->ht", distances)
    return np.asarray((distances.sum(axis=2) - own) / (distances.shape[1] - 1))


def _spread_without(within: Floats) -> Floats:
    """Half the mean distance within a cloud that lacks each point in turn, (head, token)."""
    size = within.shape[1]
    pairs = within.sum(axis=(1, 2))[:, None] - 2 * within.sum(axis=2)
    return np.asarray(pairs / (2 * (size - 1) * (size - 2)))


def _nearer(own: Floats, other: Floats) -> Floats:
    """1 where the own cloud is nearer, 0 where the other is, 0.5 where they tie up to rounding."""
    ties = np.abs(own - other) <= TIE * (np.abs(own) + np.abs(other))
    return np.where(ties, 0.5, own < other)


def _distances(a: Floats, b: Floats) -> Floats:
    """Euclidean distances between the rows of a and of b, (head, row of a, row of b)."""
    squared = (a**2).sum(-1)[:, :, None] + (b**2).sum(-1)[:, None, :]
    squared -= 2 * a @ b.swapaxes(1, 2)
    return np.asarray(np.sqrt(np.maximum(squared, 0)))
