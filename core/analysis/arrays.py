"""Types of the arrays that analyses and figures take and give, and what several of them compute."""

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
    """Each row (row, dim) scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def cosines(vectors: Floats) -> Floats:
    """Of every row with every other, (row, row); 0 for a row of zeros."""
    units = unit_rows(vectors)
    return np.asarray(units @ units.T)


def renormalise_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row (..., row, column) divided by its sum; a row of zeros stays zero."""
    sums = matrix.sum(axis=-1, keepdims=True)
    return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)


def mean_of_finite(values: Floats, weights: Floats | int = 1) -> Floats:
    """Mean over the first axis of what is finite, weighted; nan where nothing is."""
    weights = np.where(np.isfinite(values), weights, 0)
    total = weights.sum(axis=0)
    weighted = np.where(weights > 0, values * weights, 0).sum(axis=0)
    return np.divide(weighted, total, out=np.full(total.shape, np.nan), where=total > 0)


def sample_indices(count: int, max_count: int, seed: int = 0) -> Indices:
    """All of `count` indices, or a random sample of `max_count`, ascending; the same each time."""
    if count <= max_count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, max_count, replace=False))


def one_thread() -> AbstractContextManager[object]:
    """BLAS without threads: small matrices gain nothing, and threads of a busy server wait."""
    return _blas().limit(limits=1)


def in_threads(function: Callable[[Given], Result], items: Iterable[Given]) -> list[Result]:
    """`function` of each, in as many threads as BLAS may take, such as ``OMP_NUM_THREADS``.

    For what spends its time in NumPy, which lets others run meanwhile.
    """
    threads = max((library["num_threads"] for library in _blas().info()), default=1)
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def _blas() -> ThreadpoolController:
    """NumPy's BLAS and, once it is loaded, SciPy's."""
    return _loaded_blas("scipy.linalg._fblas" in sys.modules)


@cache
def _loaded_blas(with_scipy: bool) -> ThreadpoolController:  # noqa: ARG001 - tells calls apart
    """Looked for once without SciPy's and once with it: it takes longer than most of its users."""
    return ThreadpoolController().select(user_api="blas")
