"""Distances from every query to every key, in full space or in a picture."""

from __future__ import annotations

from typing import Literal

import numpy as np

from core.analysis.arrays import Floats

Distance = Literal["euclidean", "squared euclidean", "cosine"]

COSINE_DIGITS = 12  # decimals; beyond them a cosine of float64 vectors is rounding
_MAX_PICTURE_DIMENSIONS = 3  # up to here differences are taken axis by axis: exact, and cheap


def distances_between(queries: Floats, keys: Floats, distance: Distance = "euclidean") -> Floats:
    """From each query (row) to each key (column), (..., token, token).

    `queries` and `keys` are (..., token, dim). A zero vector has cosine distance 1.
    """
    if distance == "euclidean" and queries.shape[-1] <= _MAX_PICTURE_DIMENSIONS:
        squares = np.zeros((*queries.shape[:-1], keys.shape[-2]))
        for axis in range(queries.shape[-1]):
            squares += (queries[..., :, None, axis] - keys[..., None, :, axis]) ** 2
        return np.sqrt(squares)
    query_squares = np.einsum("...td,...td->...t", queries, queries)[..., :, None]
    key_squares = np.einsum("...td,...td->...t", keys, keys)[..., None, :]
    return pair_distances(queries @ keys.swapaxes(-1, -2), query_squares, key_squares, distance)


def pair_distances(
    products: Floats, query_squares: Floats, key_squares: Floats, distance: Distance
) -> Floats:
    """From dot products, which are overwritten, and squared norms that broadcast to their shape."""
    if distance == "cosine":
        lengths = np.sqrt(query_squares * key_squares)
        cosine = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return np.asarray(np.round(1 - cosine, COSINE_DIGITS))
    squares = np.multiply(products, -2, out=products)
    squares += query_squares
    squares += key_squares
    np.maximum(squares, 0, out=squares)
    return squares if distance == "squared euclidean" else np.sqrt(squares, out=squares)
