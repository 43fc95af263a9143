"""Principal components of a head's queries and keys at every stage, from their own covariances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.data import DIMENSIONS
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from core.analysis.arrays import Floats
    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

_ROUNDING = 1e-10  # of the largest variance: anything smaller is rounding of float32 vectors
_STILL = 1e-12  # of the vectors' mean square: they are all equal but for rounding


def project_stages(
    queries: Floats, keys: Floats, c: float
) -> tuple[dict[Stage, Array], dict[Stage, Floats]]:
    """Points float32 (2 token, 3) at each stage, queries first, and the share each axis keeps (3,).

    `queries` and `keys` are (token, dim). Keys are translated by the vector between the centroids,
    and both are scaled by `c`. Each axis points to where its largest weight is positive; with fewer
    dims than axes the rest are zeros.
    """
    q_mean, k_mean = queries.mean(axis=0), keys.mean(axis=0)
    q, k = queries - q_mean, keys - k_mean
    q_cov, k_cov = q.T @ q / len(q), k.T @ k / len(k)
    q_square = np.trace(q_cov) + q_mean @ q_mean
    k_square = np.trace(k_cov) + k_mean @ k_mean
    points, shares = {}, {}
    for stage in STAGES:
        shift = np.zeros_like(q_mean) if stage == "raw" else q_mean - k_mean
        factor = c if stage == "normalized" else 1.0
        ends = q_mean * factor, (k_mean + shift) / factor
        half = (ends[0] - ends[1]) / 2
        covariance = (q_cov * factor**2 + k_cov / factor**2) / 2 + np.outer(half, half)
        mean_square = float(q_square * factor**2 + k_square / factor**2) / 2
        axes, shares[stage] = _axes(covariance, _STILL * mean_square)
        both = np.vstack([queries * factor, (keys + shift) / factor])
        points[stage] = ((both - (ends[0] + ends[1]) / 2) @ axes).astype(np.float32)
    return points, shares


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
