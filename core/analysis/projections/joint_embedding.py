"""Queries and keys of one head in one plane or space, by four projections."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.projections.error import ProjectionError
from core.analysis.vectors import principal_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Projection = Literal["PCA", "biplot", "UMAP", "t-SNE"]
Metric = Literal["euclidean", "cosine"]

SEED = 0
NEIGHBOURS = 15  # UMAP's own default
PERPLEXITY = 30.0  # openTSNE's own default
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where the queries and keys of one head lie.

    Attributes
    ----------
    queries, keys : float64 (token, dimension).
    share : what it keeps of the variance (PCA) or of the squared centred scores (biplot), 0 to 1;
        None where a projection has no such number.
    """

    queries: Floats
    keys: Floats
    share: float | None = None


def embed(
    queries: Floats,
    keys: Floats,
    projection: Projection,
    *,
    dimensions: int = 2,
    metric: Metric = "euclidean",
) -> Embedding:
    """Project queries and keys together.

    Parameters
    ----------
    queries, keys : (token, dim).
    dimensions : 2 or 3.
    metric : "cosine" compares vectors by their angle, whatever their lengths. A biplot has no
        metric: it keeps inner products.

    Returns
    -------
    The same numbers for the same input: random parts start from ``SEED``.

    Raises
    ------
    ProjectionError
        When UMAP or t-SNE fails; the message is a sentence for a page.
    """
    if projection == "biplot":
        return biplot(queries, keys, dimensions)
    rows = np.vstack([queries, keys])
    if metric == "cosine":
        rows = _unit(rows)
    share = None
    if projection == "PCA" or len(np.unique(rows, axis=0)) <= dimensions + 1:
        points, shares = principal_components(rows, dimensions)
        share = float(shares.sum())
    elif projection == "UMAP":
        points = _umap(rows, dimensions, metric)
    else:
        points = _tsne(rows, dimensions, metric)
    return Embedding(points[: len(queries)], points[len(queries) :], share)


def biplot(queries: Floats, keys: Floats, dimensions: int = 2) -> Embedding:
    """Points whose inner products are nearest to the head's centred dot products.

    From each row of q k^T its mean is taken, which softmax cannot see; what remains,
    q (k - mean k)^T, is cut at rank `dimensions` by singular value decomposition. No other points
    in so few dimensions reproduce it better (Eckart and Young 1936; biplot: Gabriel 1971). All
    pairs count, also those that a causal mask hides: with a mask there is no closed form.

    `queries` and `keys` are (token, dim). Both clouds are given the same mean square norm, and each
    axis points to where the query that lies farthest out on it is positive: a singular value
    decomposition leaves the signs open, and rounding would mirror the picture.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        q_basis, q_factor = np.linalg.qr(queries)
        k_basis, k_factor = np.linalg.qr(keys - keys.mean(axis=0))
        left, values, right = np.linalg.svd(q_factor @ k_factor.T)
    rank = min(dimensions, len(values))
    root = np.sqrt(values[:rank]) * _signs(q_basis @ left[:, :rank])
    of_queries = np.zeros((len(queries), dimensions))
    of_keys = np.zeros((len(keys), dimensions))
    of_queries[:, :rank] = q_basis @ (left[:, :rank] * root)
    of_keys[:, :rank] = k_basis @ (right[:rank].T * root)
    total = float((values**2).sum())
    share = float((values[:rank] ** 2).sum() / total) if total > 0 else 1.0
    return Embedding(of_queries, of_keys, share)


def _signs(axes: Floats) -> Floats:
    """1 or -1 for each column, so that its largest entry is positive, (column,)."""
    largest = np.abs(axes).argmax(axis=0)
    return np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _umap(rows: Floats, dimensions: int, metric: Metric) -> Floats:
    from core.analysis.projections.umap_process import fit_umap

    return fit_umap(rows, dimensions, min(NEIGHBOURS, len(rows) - 1), SEED, metric)


def _tsne(rows: Floats, dimensions: int, metric: Metric) -> Floats:
    # It starts from principal components, of which there are no more than dims: zeros change no
    # distance.
    rows = np.pad(rows, ((0, 0), (0, max(0, dimensions - rows.shape[1]))))
    if metric == "cosine" and not rows.any(axis=1).all():
        # A vector of no length is at distance 1 from all others, as if it stood upright on them.
        rows = np.pad(rows, ((0, 0), (0, 1)))
        rows[:, -1] = ~rows.any(axis=1)
    try:
        return _fit_tsne(rows, dimensions, metric)
    except MemoryError:
        raise ProjectionError("There is too little memory for t-SNE of these points.") from None
    except (ArithmeticError, RuntimeError, ValueError) as error:
        _log.warning("t-SNE: %s", error, exc_info=True)
        raise ProjectionError("t-SNE refused these points.") from None


def _fit_tsne(rows: Floats, dimensions: int, metric: Metric) -> Floats:
    from openTSNE import TSNE
    from threadpoolctl import threadpool_limits

    few = 3000  # points; openTSNE's own rule, and its grid (fft) knows two dimensions only
    method = "bh" if len(rows) < few or dimensions > 2 else "fft"
    with threadpool_limits(1, user_api="blas"):
        fitted = TSNE(
            n_components=dimensions,
            perplexity=min(PERPLEXITY, (len(rows) - 1) / 3),
            negative_gradient_method=method,
            neighbors="exact",
            metric=metric,
            random_state=SEED,
        ).fit(rows)
    return np.asarray(fitted, dtype=np.float64)
