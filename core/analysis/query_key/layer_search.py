"""The notebook's search for a and c on a layer of a trace, over ranges that a person can widen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.normalization import (
    NOTEBOOK_A,
    NOTEBOOK_C,
    GridSearch,
    grid_search,
    same_token_pairs,
)
from core.analysis.query_key.fitted_line import FittedLine, fit_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Trace

    Floats = NDArray[np.float64]


class SearchRange(NamedTuple):
    """What the search tries: a and c from minus to plus these values, in so many steps each."""

    a: float = NOTEBOOK_A[1]
    c: float = NOTEBOOK_C[1]
    steps: int = NOTEBOOK_A[2]

    @property
    def a_values(self) -> Floats:
        """Every a, (steps,)."""
        return np.linspace(-self.a, self.a, self.steps)

    @property
    def c_values(self) -> Floats:
        """Every c, (steps,)."""
        return np.linspace(-self.c, self.c, self.steps)


NOTEBOOK_RANGE = SearchRange()


@dataclass(frozen=True, eq=False)
class Regression:
    """The pairs that the search looks at, at its best a and c, and the line through them.

    Attributes
    ----------
    distances : cosine distance of each query to the key of its own token, all heads, (pair,).
    products : their dot products, (pair,).
    line : dot product by distance, as the notebook draws it; None where distances do not vary.
    """

    distances: Floats
    products: Floats
    line: FittedLine | None


def search_layer(trace: Trace, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """:func:`core.analysis.normalization.grid_search` over all heads of one layer."""
    return grid_search(trace.queries[layer], trace.keys[layer], ranges.a_values, ranges.c_values)


def regression_of(trace: Trace, layer: int, search: GridSearch) -> Regression:
    """The regression at the best a and c of a search that found some."""
    products, distances = same_token_pairs(
        trace.queries[layer], trace.keys[layer], search.a, search.c
    )
    return Regression(distances, products, fit_line(distances, products))
