"""What every distance and inner product is correlated with: row-centred scores of permitted pairs.

Softmax ignores a constant added to a row of scores, so each row loses its mean over the permitted
keys; raw scores are there for comparison. All stages, distances and pictures share the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.normalization import ROUNDING
from core.analysis.pairs import exact_scores, permitted

if TYPE_CHECKING:
    from core.model.trace import Trace

TargetKind = Literal["centred", "raw"]
MIN_KEYS = 2  # a query with one permitted key must attend to it, which says nothing


@dataclass(frozen=True, eq=False)
class Rows:
    """The pairs that count, query by query: permitted, of queries with ``MIN_KEYS`` or more."""

    queries: Indices  # (row,)
    keys: Indices  # (pair,)
    starts: Indices  # (row,), its first pair
    counts: Indices  # (row,), how many it has

    def select(self, matrix: Floats) -> Floats:
        """The pairs of one text's (token, token), (pair,)."""
        if self.keys.size == matrix.size:
            return matrix.ravel()
        return np.asarray(matrix[self.spread(self.queries), self.keys])

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value a row, repeated for each of its pairs, (pair,)."""
        return np.repeat(values, self.counts)

    def sums(self, values: Floats) -> Floats:
        """The sum over the pairs of each row, (row,)."""
        return np.asarray(np.add.reduceat(values, self.starts, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Target:
    """What pictures of one head are compared with."""

    rows: Rows  # the pairs that count
    values: Floats  # (pair,), scores less the mean of their row ("centred") or of all ("raw")
    strongest: Indices  # the pair with the highest score of each row, of equals the first, (row,)
    kind: TargetKind = "centred"  # which mean was taken; distances lose the same one


def head_target(trace: Trace, layer: int, head: int, kind: TargetKind = "centred") -> Target:
    """The target of one head of a text."""
    return matrix_target(exact_scores(trace, layer, head), permitted(trace, layer, head), kind)


def matrix_target(scores: Floats, allowed: Bools, kind: TargetKind = "centred") -> Target:
    """The target of one text's scores before softmax; both arguments are (token, token)."""
    rows = rows_of(allowed)
    return target_of(rows.select(scores), rows, kind)


def rows_of(allowed: Bools) -> Rows:
    """The pairs that count among one text's permitted pairs (token, token)."""
    counted = allowed & (allowed.sum(axis=1, keepdims=True) >= MIN_KEYS)
    counts = counted.sum(axis=1)
    queries = np.flatnonzero(counts)
    counts = counts[queries]
    return Rows(
        queries=queries,
        keys=np.nonzero(counted)[1],
        starts=np.cumsum(counts) - counts,
        counts=counts,
    )


def target_of(scores: Floats, rows: Rows, kind: TargetKind = "centred") -> Target:
    """The target of the scores (pair,) of these rows; what varies only by rounding becomes 0."""
    values = less_mean(scores, rows, kind)
    if values.size:
        largest = np.maximum.reduceat(np.abs(values), rows.starts)
        values[rows.spread(largest <= ROUNDING * np.abs(scores).max())] = 0.0
    return Target(rows, values, _strongest(scores, rows), kind)


def less_mean(values: Floats, rows: Rows, kind: TargetKind) -> Floats:
    """`values` (pair,) less the mean of their row, or of all of them."""
    if not values.size:
        return values
    if kind == "raw":
        return np.asarray(values - values.mean())
    return np.asarray(values - rows.spread(rows.sums(values) / rows.counts))


def _strongest(scores: Floats, rows: Rows) -> Indices:
    """The pair with the highest score of each row, of equals the first."""
    if not scores.size:
        return np.zeros(0, dtype=np.intp)
    highest = np.flatnonzero(scores == rows.spread(np.maximum.reduceat(scores, rows.starts)))
    return highest[np.searchsorted(highest, rows.starts)]
