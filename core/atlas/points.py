"""Principal components of a head's queries and keys at every stage, from their own covariances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Floats
from core.atlas.data import DIMENSIONS
from core.model.trace import Array
from core.vocabulary import STAGES, Stage

_ROUNDING = 1e-10  # of the largest variance: anything smaller is rounding of float32 vectors
_STILL = 1e-12  # of the vectors' mean square: below it they are equal up to rounding


class Plane(NamedTuple):
    """How vectors become points: (vector * factor - centre) @ axes.

    Attributes
    ----------
    factors : for queries and for keys.
    centres : (2, dim), of queries and of keys, in the units after the factor.
    axes : (dim, 3); the largest weight of each is positive; if there are fewer dims than axes, the
        rest are zeros.
    shares : of the variance, by axis, (3,).
    """

    factors: tuple[float, float]
    centres: Floats
    axes: Floats
    shares: Floats


def find_planes(
    means: tuple[Floats, Floats], covariances: tuple[Floats, Floats], c: float
) -> dict[Stage, Plane]:
    """The planes of a head whose queries and keys have these means (dim,) and covariances.

    There are as many queries as keys. Keys are translated by the difference of the centroids, and
    both are scaled by `c`.
    """
    (q_mean, k_mean), (q_cov, k_cov) = means, covariances
    q_square = np.trace(q_cov) + q_mean @ q_mean
    k_square = np.trace(k_cov) + k_mean @ k_mean
    planes = {}
    for stage in STAGES:
        shift = np.zeros_like(q_mean) if stage == "raw" else q_mean - k_mean
        factor = c if stage == "normalized" else 1.0
        ends = q_mean * factor, (k_mean + shift) / factor
        half = (ends[0] - ends[1]) / 2
        covariance = (q_cov * factor**2 + k_cov / factor**2) / 2 + np.outer(half, half)
        mean_square = float(q_square * factor**2 + k_square / factor**2) / 2
        axes, shares = _axes(covariance, _STILL * mean_square)
        centre = (ends[0] + ends[1]) / 2
        centres = np.stack([centre, centre - shift / factor])
        planes[stage] = Plane((factor, 1 / factor), centres, axes, shares)
    return planes


def place(queries: Floats, keys: Floats, planes: Mapping[Stage, Plane]) -> dict[Stage, Array]:
    """Project vectors (token, dim) to points float32 (2 token, 3) in each plane, queries first."""
    return {
        stage: np.vstack(
            [
                (vectors * factor - centre) @ plane.axes
                for vectors, factor, centre in zip(
                    (queries, keys), plane.factors, plane.centres, strict=True
                )
            ]
        ).astype(np.float32)
        for stage, plane in planes.items()
    }


def _axes(covariance: Floats, min_variance: float) -> tuple[Floats, Floats]:
    """The first axes (dim, 3) and their shares of the variance (3,); zeros below `min_variance`."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]  # largest first
    count = min(DIMENSIONS, len(values))
    axes, shares = np.zeros((len(values), DIMENSIONS)), np.zeros(DIMENSIONS)
    real = values[:count] > max(_ROUNDING * values[0], min_variance)
    largest = vectors[np.abs(vectors[:, :count]).argmax(axis=0), np.arange(count)]
    axes[:, :count] = vectors[:, :count] * np.where(largest < 0, -1, 1) * real
    if real.any():
        shares[:count] = np.where(real, values[:count], 0) / values.clip(0).sum()
    return axes, shares
