"""Queries and keys of one head in one plane or space, by three projections."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.analysis.arrays import Floats, one_thread, unit_rows
from core.analysis.projections.umap_process import ProjectionError, fit_umap
from core.analysis.vectors import principal_components

Projection = Literal["PCA", "UMAP", "t-SNE"]
Metric = Literal["euclidean", "cosine"]

SEED = 0
NEIGHBOURS = 15  # UMAP's own default
PERPLEXITY = 30.0  # openTSNE's own default
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where the queries and keys of one head lie."""

    queries: Floats  # (token, dimension)
    keys: Floats  # (token, dimension)
    share: float | None = None  # what PCA keeps of the variance, 0 to 1


def embed(
    queries: Floats,
    keys: Floats,
    projection: Projection,
    *,
    dimensions: int = 2,
    metric: Metric = "euclidean",
) -> Embedding:
    """Project queries and keys together.

    `queries` and `keys` are (token, dim), `dimensions` 2 or 3. The metric "cosine" compares vectors
    by angle, ignoring lengths. The same input gives the same result: random parts are seeded with
    ``SEED``. Raises `ProjectionError` if UMAP or t-SNE fails; the message is a sentence for
    the page.
    """
    rows = np.vstack([queries, keys])
    if metric == "cosine":
        rows = unit_rows(rows)
    share = None
    if projection == "PCA" or len(np.unique(rows, axis=0)) <= dimensions + 1:
        points, shares = principal_components(rows, dimensions)
        share = float(shares.sum())
    elif projection == "UMAP":
        points = fit_umap(rows, dimensions, min(NEIGHBOURS, len(rows) - 1), SEED, metric)
    else:
        points = _tsne(rows, dimensions, metric)
    return Embedding(points[: len(queries)], points[len(queries) :], share)


def _tsne(rows: Floats, dimensions: int, metric: Metric) -> Floats:
    # It starts from principal components, at most as many as dims: zeros change no distance.
    rows = np.pad(rows, ((0, 0), (0, max(0, dimensions - rows.shape[1]))))
    zeros = ~rows.any(axis=1)
    if metric == "cosine" and zeros.any():
        # A zero vector has distance 1 to all others, as if it were orthogonal to them.
        rows = np.column_stack([rows, zeros])
    try:
        return _fit_tsne(rows, dimensions, metric)
    except MemoryError:
        raise ProjectionError("There is too little memory for t-SNE of these points.") from None
    except (ArithmeticError, RuntimeError, ValueError) as error:
        _log.warning("t-SNE: %s", error, exc_info=True)
        raise ProjectionError("t-SNE refused these points.") from None


def _fit_tsne(rows: Floats, dimensions: int, metric: Metric) -> Floats:
    from openTSNE import TSNE, affinity

    # It would import pynndescent just to see whether it exists: 15 s of compiling and 120 MB.
    affinity.is_package_installed = lambda _: False
    exact = len(rows) < 3000 or dimensions > 2  # openTSNE's own rule; its grid is flat
    with one_thread():
        fitted = TSNE(
            n_components=dimensions,
            perplexity=min(PERPLEXITY, (len(rows) - 1) / 3),
            negative_gradient_method="bh" if exact else "fft",
            neighbors="exact",
            metric=metric,
            random_state=SEED,
        ).fit(rows)
    return np.asarray(fitted, dtype=np.float64)
