"""Principal components of a head's queries and keys at every stage, from one set of moments.

Translation and scaling change the covariance of queries and keys together in a way that is known:
so the components of all three stages come from the covariances of queries and keys apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.data import DIMENSIONS
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

    Floats = NDArray[np.float64]

_ROUNDING = 1e-10  # of the largest variance: what is smaller is rounding of float32 vectors
_STILL = 1e-12  # of the mean square of the vectors: they are all the same but for rounding


@dataclass(frozen=True, eq=False)
class Moments:
    """Means (dim,) and covariances (dim, dim) of queries and of keys."""

    q_mean: Floats
    k_mean: Floats
    q_cov: Floats
    k_cov: Floats


def moments(queries: Floats, keys: Floats) -> Moments:
    """Of one head; `queries` and `keys` are (token, dim)."""
    q_mean, k_mean = queries.mean(axis=0), keys.mean(axis=0)
    q, k = queries - q_mean, keys - k_mean
    return Moments(q_mean, k_mean, q.T @ q / len(q), k.T @ k / len(k))


def project_stages(
    queries: Floats, keys: Floats, c: float
) -> tuple[dict[Stage, Array], dict[Stage, Floats]]:
    """Points float32 (2 token, 3) at each stage, queries first, and the share each axis keeps (3,).

    The keys are translated by the vector between the centroids, and both scaled by `c`. Axes point
    to where their largest weight is positive; fewer dims than axes leave zeros.
    """
    known = moments(queries, keys)
    points, shares = {}, {}
    for stage in STAGES:
        shift = np.zeros_like(known.q_mean) if stage == "raw" else known.q_mean - known.k_mean
        factor = c if stage == "normalized" else 1.0
        middle, covariance = _together(known, shift, factor)
        axes, shares[stage] = _axes(covariance, _STILL * _square(known, factor))
        both = np.vstack([queries * factor, (keys + shift) / factor])
        points[stage] = ((both - middle) @ axes).astype(np.float32)
    return points, shares


def _together(known: Moments, shift: Floats, factor: float) -> tuple[Floats, Floats]:
    """Mean and covariance of queries times `factor` and shifted keys divided by it."""
    of_queries, of_keys = known.q_mean * factor, (known.k_mean + shift) / factor
    half = (of_queries - of_keys) / 2
    covariance = (known.q_cov * factor**2 + known.k_cov / factor**2) / 2 + np.outer(half, half)
    return (of_queries + of_keys) / 2, covariance


def _square(known: Moments, factor: float) -> float:
    """Mean square of the vectors' lengths before they are shifted."""
    of_queries = np.trace(known.q_cov) + known.q_mean @ known.q_mean
    of_keys = np.trace(known.k_cov) + known.k_mean @ known.k_mean
    return float(of_queries * factor**2 + of_keys / factor**2) / 2


def _axes(covariance: Floats, least: float) -> tuple[Floats, Floats]:
    """The first axes (dim, 3), and their shares of the variance (3,).

    Where there is no more variance than the `least`, there is no axis.
    """
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]  # largest first
    count = min(DIMENSIONS, len(values))
    axes, shares = np.zeros((len(values), DIMENSIONS)), np.zeros(DIMENSIONS)
    real = values[:count] > max(_ROUNDING * values[0], least)
    largest = vectors[np.abs(vectors[:, :count]).argmax(axis=0), np.arange(count)]
    axes[:, :count] = vectors[:, :count] * np.where(largest < 0, -1, 1) * real
    if real.any():
        shares[:count] = np.where(real, values[:count], 0) / values.clip(0).sum()
    return axes, shares
