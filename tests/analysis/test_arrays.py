"""What several analyses share."""

from __future__ import annotations

import scipy.linalg  # noqa: F401 - NumPy has a BLAS, SciPy another
from threadpoolctl import threadpool_info, threadpool_limits

from core.analysis.arrays import one_thread


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_no_blas_has_more_than_one_thread_until_the_block_ends() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
