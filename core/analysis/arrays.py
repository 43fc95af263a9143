"""Array types of analyses and figures, and the small computations that several of them share."""

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Given = TypeVar("Given")
Result = TypeVar("Result")
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def unit_rows(vectors: Floats) -> Floats:
    """Each row (row, dim) scaled to length 1; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def cosines(vectors: Floats) -> Floats:
    """Cosine of every row with every other, (row, row); 0 for a row of zeros."""
    units = unit_rows(vectors)
    return np.asarray(units @ units.T)


def renormalise_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row (..., row, column) divided by its sum; a row of zeros stays zero."""
    sums = matrix.sum(axis=-1, keepdims=True)
    return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)


def mean_of_finite(values: Floats, weights: Floats | int = 1) -> Floats:
    """Weighted mean of the finite values over the first axis; nan where there are none."""
    weights = np.where(np.isfinite(values), weights, 0)
    total = weights.sum(axis=0)
    weighted = np.where(weights > 0, values * weights, 0).sum(axis=0)
    return np.divide(weighted, total, out=np.full(total.shape, np.nan), where=total > 0)


def sample_indices(count: int, max_count: int, seed: int = 0) -> Indices:
    """All `count` indices, or a random sample of `max_count`, ascending; always the same one."""
    if count <= max_count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, max_count, replace=False))


def one_thread() -> AbstractContextManager[object]:
    """BLAS on one thread: small matrices gain nothing from more, which wait on a busy server."""
    return _blas().limit(limits=1)


def in_threads(function: Callable[[Given], Result], items: Iterable[Given]) -> list[Result]:
    """`function` of each item, in as many threads as BLAS may use, as set by ``OMP_NUM_THREADS``.

    For work that spends its time in NumPy, which releases Python's lock meanwhile.
    """
    threads = max((library["num_threads"] for library in _blas().info()), default=1)
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def _blas() -> ThreadpoolController:
    """NumPy's BLAS and, once it is loaded, SciPy's."""
    return _loaded_blas("scipy.linalg._fblas" in sys.modules)


@cache
def _loaded_blas(with_scipy: bool) -> ThreadpoolController:  # noqa: ARG001 - tells calls apart
    """Looked up once before SciPy is loaded and once after: it is slower than most of its uses."""
    return ThreadpoolController().select(user_api="blas")
