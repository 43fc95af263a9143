"""The notebook's search for a and c on a layer of a trace, over ranges that a person can widen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.normalization import (
    NOTEBOOK_A,
    NOTEBOOK_C,
    ROUNDING,
    GridSearch,
    grid_search,
    same_token_pairs,
)
from core.model.trace import Trace


class SearchRange(NamedTuple):
    """What the search tries: a and c from minus to plus these values, in so many steps each."""

    a: float = NOTEBOOK_A[1]
    c: float = NOTEBOOK_C[1]
    steps: int = NOTEBOOK_A[2]


NOTEBOOK_RANGE = SearchRange()


class FittedLine(NamedTuple):
    """y = intercept + slope x."""

    slope: float
    intercept: float


class Regression(NamedTuple):
    """The pairs that the search looks at, at its best a and c, and the line through them."""

    distances: Floats  # cosine distances of each query to its own token's key, all heads, (pair,)
    products: Floats  # their dot products
    line: FittedLine | None  # None where distances do not vary


def search_layer(trace: Trace, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """:func:`core.analysis.normalization.grid_search` over all heads of one layer.

    It compares the query and the key of one token: in cross attention no token has both, and
    nothing is found.
    """
    a_values, c_values = (
        np.linspace(-limit, limit, ranges.steps) for limit in (ranges.a, ranges.c)
    )
    if trace.source is not None:
        nothing = np.full((ranges.steps, ranges.steps), np.nan)
        return GridSearch(np.nan, np.nan, np.nan, nothing, (), a_values, c_values)
    return grid_search(trace.queries[layer], trace.keys[layer], a_values, c_values)


def regression_of(trace: Trace, layer: int, search: GridSearch) -> Regression:
    """The regression at the best a and c of a search that is defined."""
    products, distances = same_token_pairs(
        trace.queries[layer], trace.keys[layer], search.a, search.c
    )
    return Regression(distances, products, fit_line(distances, products))


def fit_line(x: Floats, y: Floats) -> FittedLine | None:
    """The least-squares line of y by x, (point,) each; None where x varies by rounding alone."""
    if x.size < 2 or np.ptp(x) <= ROUNDING * np.abs(x).max():
        return None
    across = x - x.mean()
    slope = float(across @ y / (across @ across))
    return FittedLine(slope, float(y.mean() - slope * x.mean()))
