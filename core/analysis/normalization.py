"""The two freedoms of attention, used to bring queries and keys together.

Softmax gives the same result when one vector is added to every key of a head, and when queries are
multiplied by c and keys divided by it (AttentionViz, Yeh et al. 2023, section 5.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from core.analysis.arrays import Bools, Floats
    from core.model.trace import Trace

NOTEBOOK_A = (-0.5, 0.5, 10)  # first, last, steps: the notebook's grid
NOTEBOOK_C = (-2.0, 2.0, 10)
ROUNDING = 1e-9  # relative to the largest value: whatever varies less is constant
MIN_GAIN = 1e-9  # of |r|: a smaller gain is rounding, not an improvement


class Improvement(NamedTuple):
    """One line of the search's log: constants that beat all before them."""

    a: float
    c: float
    correlation: float


@dataclass(frozen=True, eq=False)
class GridSearch:
    """The result of the notebook's search on one layer."""

    a: float  # with the largest |correlation|; NaN when none is defined
    c: float  # likewise
    correlation: float  # Pearson's r there, with its sign, between dot product and cosine distance
    surface: Floats  # r for every (a, c); NaN where c is 0 or products or distances do not vary
    history: tuple[Improvement, ...]  # in the order of the search, a in the outer loop
    a_values: Floats  # the grid
    c_values: Floats

    @property
    def defined(self) -> bool:
        """Whether any correlation was defined, so that there are an a and a c."""
        return bool(np.isfinite(self.correlation))

    @property
    def a_on_edge(self) -> bool:
        """Whether the best a is at an end of its range: a wider range may do better."""
        return bool(self.a in {self.a_values[0], self.a_values[-1]})

    @property
    def spread_along_c(self) -> float:
        """Largest difference of r between two values of c with the same a."""
        defined = self.surface[:, np.isfinite(self.surface).any(axis=0)]
        return float(np.ptp(defined, axis=1).max(initial=0.0)) if defined.size else 0.0


class SearchRange(NamedTuple):
    """What the search tries: a and c from minus to plus these values, in this many steps each."""

    a: float = NOTEBOOK_A[1]
    c: float = NOTEBOOK_C[1]
    steps: int = NOTEBOOK_A[2]


NOTEBOOK_RANGE = SearchRange()


class FittedLine(NamedTuple):
    """y = intercept + slope x."""

    slope: float
    intercept: float


class Regression(NamedTuple):
    """The pairs that the search uses, at its best a and c, and the line through them."""

    distances: Floats  # cosine distance of each query to its own token's key, all heads, (pair,)
    products: Floats  # their dot products
    line: FittedLine | None  # None where distances do not vary


def key_translation(queries: ArrayLike, keys: ArrayLike) -> Floats:
    """The vector from the keys' centroid to the queries'; adding it to every key aligns the two.

    From (..., token, dim) to (..., dim), one vector per head (AttentionViz, section 5.1.1).
    """
    queries, keys = _vectors(queries, keys)
    return np.asarray(queries.mean(axis=-2) - keys.mean(axis=-2))


def normalize(
    queries: ArrayLike, keys: ArrayLike, a: ArrayLike, c: ArrayLike
) -> tuple[Floats, Floats]:
    """Queries c q and keys (k + a) / c, which leave a head's attention unchanged.

    `queries`, `keys` and the float64 arrays returned are (..., token, dim); `a` is one number for
    every dimension of every key, or vectors (..., dim), one per head; `c` one number, or one per
    head, (...). A negative `c` mirrors both clouds. Raises `ValueError` if a `c` is 0, or queries
    and keys differ in more than their number of tokens.
    """
    queries, keys = _vectors(queries, keys)
    a, c = np.asarray(a, dtype=np.float64), np.asarray(c, dtype=np.float64)
    if not np.all(c):
        raise ValueError("c must not be 0: keys are divided by it")
    shift = a if a.ndim == 0 else a[..., None, :]
    factor = c if c.ndim == 0 else c[..., None, None]
    return queries * factor, (keys + shift) / factor


def grid_search(
    queries: ArrayLike, keys: ArrayLike, a_values: ArrayLike, c_values: ArrayLike
) -> GridSearch:
    """The notebook's search for a scalar a and a c on one layer.

    For every a and c, queries become c q and keys (k + a) / c; r is Pearson's correlation between
    dot product and cosine distance over the pairs of a query and its own token's key, all heads
    pooled. The largest |r| wins; gains below ``MIN_GAIN`` do not count. `queries` and `keys` are
    (head, token, dim), `a_values` and `c_values` in the order of the search. Raises `ValueError`
    for arrays of another shape, or an empty range.

    Moments are computed once for each a; c enters them as a factor and cancels from every cosine.
    """
    queries, keys = _vectors(queries, keys, same_tokens=True)
    if queries.ndim != 3:
        raise ValueError(f"queries and keys must be (head, token, dim), not {queries.shape}")
    a, c = _range(a_values, "a_values"), _range(c_values, "c_values")
    surface = _surface(*_pair_moments(queries, keys, a), c)
    history: list[Improvement] = []
    best = Improvement(np.nan, np.nan, 0.0)
    for (i, j), r in np.ndenumerate(surface):
        if abs(r) > abs(best.correlation) + MIN_GAIN:  # False for NaN
            best = Improvement(float(a[i]), float(c[j]), float(r))
            history.append(best)
    winner = best if history else Improvement(np.nan, np.nan, np.nan)
    return GridSearch(*winner, surface, tuple(history), a, c)


def search_layer(trace: Trace, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """:func:`grid_search` over all heads of one layer.

    It compares the query and the key of the same token: in cross attention no token has both, so
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
    """The regression at the best a and c of a search for which `defined` is true."""
    queries, keys = normalize(trace.queries[layer], trace.keys[layer], search.a, search.c)
    products = np.einsum("htd,htd->ht", queries, keys).ravel()
    lengths = (np.linalg.norm(queries, axis=-1) * np.linalg.norm(keys, axis=-1)).ravel()
    distances = 1 - _divide(products, lengths)
    return Regression(distances, products, fit_line(distances, products))


def fit_line(x: Floats, y: Floats) -> FittedLine | None:
    """The least-squares line of y by x, (point,) each; None if x varies only by rounding."""
    if x.size < 2 or np.ptp(x) <= ROUNDING * np.abs(x).max():
        return None
    across = x - x.mean()
    slope = float(across @ y / (across @ across))
    return FittedLine(slope, float(y.mean() - slope * x.mean()))


def is_constant(values: Floats) -> Bools:
    """Whether the values along the last axis vary only by rounding."""
    low, high = values.min(axis=-1), values.max(axis=-1)
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _pair_moments(queries: Floats, keys: Floats, a: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of x x, y y and x y over same-token pairs, (a,) each; x are dot products, y cosines."""
    dots = np.einsum("htd,htd->ht", queries, keys).ravel()
    x = dots + np.outer(a, queries.sum(axis=-1))
    squared = np.outer(2 * a, keys.sum(axis=-1)) + (keys**2).sum(axis=-1).ravel()
    squared += queries.shape[-1] * (a**2)[:, None]  # |k + a|^2, (a, pair)
    lengths = np.sqrt(np.maximum(squared, 0)) * np.linalg.norm(queries, axis=-1).ravel()
    y = _divide(x, lengths)
    undefined = is_constant(x) | is_constant(y)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    var_x, var_y, cov = (np.einsum("ap,ap->a", *pair) for pair in ((x, x), (y, y), (x, y)))
    return np.where(undefined, np.nan, var_x), var_y, cov


def _surface(var_x: Floats, var_y: Floats, cov: Floats, c: Floats) -> Floats:
    """Correlations (a, c): products scale by c / c, cosines by that over |c| / |c|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        product = c * (1 / c)
        cosine = product / (np.abs(c) * np.abs(1 / c))
        numerator = -cov[:, None] * (product * cosine)
        variances = (var_x[:, None] * product**2) * (var_y[:, None] * cosine**2)
        return np.asarray(numerator / np.sqrt(variances))


def _divide(x: Floats, y: Floats) -> Floats:
    """Quotient of x and y, 0 where y is 0."""
    return np.divide(x, y, out=np.zeros_like(x), where=y > 0)


def _vectors(
    queries: ArrayLike, keys: ArrayLike, *, same_tokens: bool = False
) -> tuple[Floats, Floats]:
    """As float64; queries and keys may have different tokens unless they are compared in pairs."""
    queries, keys = np.asarray(queries, dtype=np.float64), np.asarray(keys, dtype=np.float64)
    axes = slice(-2, None) if same_tokens else slice(-1, None)
    shapes = [(each.ndim, each.shape[:-2], each.shape[axes]) for each in (queries, keys)]
    if queries.ndim < 2 or shapes[0] != shapes[1]:
        raise ValueError(
            "queries and keys must be (..., token, dim) of one shape,"
            f" not {queries.shape} and {keys.shape}"
        )
    return queries, keys


def _range(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a list of numbers, not an array of shape {array.shape}")
    return array
