"""One function for every head of a model, on all processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_THREADS = 4
Found = TypeVar("Found")


def every_head(layers: int, heads: int, function: Callable[[int, int], Found]) -> list[Found]:
    """What `function` gives for (layer, head), layer after layer.

    Within a head matrices are too small for the threads of BLAS to gain anything.
    """
    from concurrent.futures import ThreadPoolExecutor
    from os import cpu_count

    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(min(_MOST_THREADS, cpu_count() or 1)) as pool,
    ):
        return list(pool.map(lambda at: function(*at), np.ndindex(layers, heads)))
