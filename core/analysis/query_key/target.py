"""What every correlation with attention is taken with: the row-centred scores of permitted pairs.

Softmax does not see what is added to a row of scores, so a row's mean is no part of attention: from
each row its mean over the permitted keys is taken. Raw scores are there for comparison. The target
is the same for every stage, distance and picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.pairs import exact_scores, permitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Trace

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

TargetKind = Literal["centred", "raw"]
FIRST_KEYS = 3  # of a query, whose nearest keys are looked at
MIN_KEYS = 2  # of a query: one with a single permitted key attends to it, and tells nothing
_ROUNDING = 1e-9  # of the largest score: a row that varies less does not vary


@dataclass(frozen=True, eq=False)
class Rows:
    """The pairs that count, query after query: permitted, of queries with ``MIN_KEYS`` or more.

    Attributes
    ----------
    queries : the query of each row, (row,).
    texts : the text of each row, ascending, (row,).
    keys : the key of each pair, (pair,).
    starts : the first pair of each row, (row,).
    counts : how many pairs each row has, (row,).
    """

    queries: Places
    texts: Places
    keys: Places
    starts: Places
    counts: Places

    def of_matrix(self, values: Floats) -> Floats:
        """The pairs of one text's (token, token), (pair,)."""
        if self.keys.size == values.size:
            return values.ravel()
        return np.asarray(values[np.repeat(self.queries, self.counts), self.keys])

    def spread(self, values: Floats) -> Floats:
        """One value a row, repeated for each of its pairs, (pair,)."""
        return np.repeat(values, self.counts)

    def summed(self, values: Floats) -> Floats:
        """The sum over the pairs of each row, (row,)."""
        if not self.starts.size:
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values, self.starts, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Target:
    """What pictures of one head are compared with.

    Attributes
    ----------
    rows : the pairs that count.
    values : float64 (pair,): scores less the mean of their row ("centred") or of all ("raw").
    strongest : for each row the pairs of its first keys, strongest first, (``FIRST_KEYS``, row); of
        equals the earlier. A row of fewer pairs repeats its last.
    kind : which mean was taken; distances lose the same one.
    """

    rows: Rows
    values: Floats
    strongest: Places
    kind: TargetKind = "centred"


def head_target(trace: Trace, layer: int, head: int, kind: TargetKind = "centred") -> Target:
    """The target of one head of a text."""
    scores = exact_scores(trace, layer, head)
    return matrix_target(scores, permitted(trace, layer, head), kind)


def matrix_target(
    scores: Floats, allowed: NDArray[np.bool_], kind: TargetKind = "centred"
) -> Target:
    """The target of one text's scores, as softmax gets them; both arguments are (token, token)."""
    rows = rows_of(allowed)
    return target_of(rows.of_matrix(scores), rows, kind)


def rows_of(allowed: NDArray[np.bool_]) -> Rows:
    """The pairs that count of one text's permitted pairs (token, token)."""
    counted = allowed & (allowed.sum(axis=1, keepdims=True) >= MIN_KEYS)
    counts = counted.sum(axis=1)
    queries = np.flatnonzero(counts)
    counts = counts[queries]
    return Rows(
        queries=queries,
        texts=np.zeros(queries.size, dtype=np.intp),
        keys=np.nonzero(counted)[1],
        starts=np.cumsum(counts) - counts,
        counts=counts,
    )


def target_of(scores: Floats, rows: Rows, kind: TargetKind = "centred") -> Target:
    """The target of the scores (pair,) of these rows."""
    values = less_mean(scores, rows, kind)
    if values.size:
        still = _ROUNDING * np.abs(scores).max()
        if kind == "centred":
            reach = np.maximum.reduceat(np.abs(values), rows.starts)
            if reach.min() <= still:
                values[rows.spread(reach <= still)] = 0.0
        elif np.abs(values).max() <= still:
            values[:] = 0.0
    return Target(rows, values, first_keys(scores, rows), kind)


def less_mean(values: Floats, rows: Rows, kind: TargetKind) -> Floats:
    """`values` (pair,) less the mean of their row, or of all of them."""
    if not values.size:
        return values
    if kind == "raw":
        return np.asarray(values - values.mean())
    return values - rows.spread(rows.summed(values) / rows.counts)


def first_keys(values: Floats, rows: Rows) -> Places:
    """The pairs of the largest values of each row, (``FIRST_KEYS``, row), as in a ``Target``."""
    left = values.copy()
    found = np.zeros((FIRST_KEYS, rows.starts.size), dtype=np.intp)
    if not values.size:
        return found
    row_of = np.repeat(np.arange(rows.starts.size), rows.counts)
    for rank in range(FIRST_KEYS):
        largest = np.flatnonzero(left == rows.spread(np.maximum.reduceat(left, rows.starts)))
        best = largest[np.searchsorted(row_of[largest], np.arange(rows.starts.size))]
        found[rank] = np.where(rank < rows.counts, best, found[rank - 1])
        left[best] = -np.inf
    return found
