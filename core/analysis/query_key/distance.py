"""Distances of every query to every key, in full space or in a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Distance = Literal["euclidean", "cosine", "squared euclidean"]

COSINE_DIGITS = 12  # after the point; beyond them a cosine of float64 vectors is rounding
_FEW_DIMENSIONS = 3  # of a picture: differences are exact there, and cheap


def distances_between(queries: Floats, keys: Floats, distance: Distance = "euclidean") -> Floats:
    """From each query (row) to each key (column), (..., token, token).

    `queries` and `keys` are (..., token, dim). A vector of no length has cosine distance 1.
    """
    if distance != "cosine" and queries.shape[-1] <= _FEW_DIMENSIONS:
        squares = _squares_in_a_picture(queries, keys)
        return np.sqrt(squares) if distance == "euclidean" else squares
    of_queries = np.einsum("...td,...td->...t", queries, queries)[..., :, None]
    of_keys = np.einsum("...td,...td->...t", keys, keys)[..., None, :]
    return pair_distances(queries @ keys.swapaxes(-1, -2), of_queries, of_keys, distance)


def pair_distances(
    products: Floats, of_queries: Floats, of_keys: Floats, distance: Distance
) -> Floats:
    """From dot products, which are overwritten, and squared norms, all of one shape or to be."""
    if distance == "cosine":
        return cosine_distances(products, of_queries * of_keys)
    squares = np.multiply(products, -2, out=products)
    squares += of_queries
    squares += of_keys
    np.maximum(squares, 0, out=squares)
    return np.sqrt(squares, out=squares) if distance == "euclidean" else squares


def cosine_distances(products: Floats, squared_lengths: Floats) -> Floats:
    """1 - product / lengths; `squared_lengths` are products of both squared norms."""
    lengths = np.sqrt(squared_lengths)
    cosine = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.asarray(np.round(1 - cosine, COSINE_DIGITS))


def _squares_in_a_picture(queries: Floats, keys: Floats) -> Floats:
    squares = np.zeros((*queries.shape[:-1], keys.shape[-2]))
    for axis in range(queries.shape[-1]):
        squares += (queries[..., :, None, axis] - keys[..., None, :, axis]) ** 2
    return squares
