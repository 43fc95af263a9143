"""The two freedoms of attention, used to bring queries and keys together.

Softmax keeps its value when one vector is added to every key of a head (a number is added to each
row of logits), and when queries are multiplied by c and keys divided by it. AttentionViz (Yeh et
al. 2023, section 5.1.1) uses both to draw queries and keys in one space; a public notebook searches
for a scalar a and a c on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NOTEBOOK_A = (-0.5, 0.5, 10)  # first, last, steps: the notebook's grid
NOTEBOOK_C = (-2.0, 2.0, 10)
ROUNDING = 1e-9  # of the largest value: what varies less is constant
LEAST_GAIN = 1e-9  # of |r|: what is smaller is rounding and no improvement


class Improvement(NamedTuple):
    """One line of the search's log: constants that were better than all before them."""

    a: float
    c: float
    correlation: float


@dataclass(frozen=True, eq=False)
class GridSearch:
    """What the notebook's search finds on one layer.

    Attributes
    ----------
    a, c : the constants with the largest |correlation|; not a number when none is defined.
    correlation : Pearson's r there, with its sign, between dot product and cosine distance.
    surface : r for every pair of constants, float64 (a, c); not a number where c is 0 or where the
        products or the distances are all the same.
    history : the improvements in the order in which they were found, a in the outer loop.
    a_values, c_values : the grid.
    """

    a: float
    c: float
    correlation: float
    surface: NDArray[np.float64]
    history: tuple[Improvement, ...]
    a_values: NDArray[np.float64]
    c_values: NDArray[np.float64]

    @property
    def defined(self) -> bool:
        """Whether any correlation was defined, so that there are an a and a c."""
        return bool(np.isfinite(self.correlation))

    @property
    def a_on_edge(self) -> bool:
        """Whether the best a is the first or the last of its range: a wider one may be better."""
        return bool(self.a in {self.a_values[0], self.a_values[-1]})

    @property
    def spread_along_c(self) -> float:
        """Largest difference of r between two values of c at the same a."""
        defined = self.surface[:, np.isfinite(self.surface).any(axis=0)]
        return float(np.ptp(defined, axis=1).max(initial=0.0)) if defined.size else 0.0


def key_translation(queries: ArrayLike, keys: ArrayLike) -> NDArray[np.float64]:
    """The vector from the keys' centroid to the queries': added to every key, centroids meet.

    `queries` and `keys` are (..., token, dim); the result is (..., dim), one vector a head
    (AttentionViz, section 5.1.1).
    """
    queries, keys = _vectors(queries, keys)
    return np.asarray(queries.mean(axis=-2) - keys.mean(axis=-2))


def normalize(
    queries: ArrayLike, keys: ArrayLike, a: ArrayLike, c: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Queries c q and keys (k + a) / c: the attention of a head stays what it was.

    Parameters
    ----------
    queries, keys : (..., token, dim).
    a : one number for every dimension of every key, or vectors (..., dim), one a head.
    c : one number, or one a head, (...); not 0. Negative values mirror both clouds.

    Returns
    -------
    Two float64 arrays (..., token, dim).

    Raises
    ------
    ValueError
        When a `c` is 0, or queries and keys differ in shape.
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

    For every a and c, queries become c q and keys (k + a) / c; over the pairs of a query and the
    key of the same token, all heads pooled, r is Pearson's correlation between their dot product
    and their cosine distance. The largest |r| wins.

    The moments of products and distances are computed once for each a; c enters them as a factor.
    Improvements smaller than ``LEAST_GAIN`` are rounding and do not count: c cancels from every
    cosine, so the c that is kept is the first of its values.

    Parameters
    ----------
    queries, keys : (head, token, dim).
    a_values, c_values : the grid, in the order in which it is searched.

    Raises
    ------
    ValueError
        When the arrays are not (head, token, dim) of one shape, or a range is empty.
    """
    queries, keys = _vectors(queries, keys)
    if queries.ndim != 3:
        raise ValueError(f"queries and keys must be (head, token, dim), not {queries.shape}")
    a_range, c_range = _range(a_values, "a_values"), _range(c_values, "c_values")
    moments = _pair_moments(queries, keys, a_range)
    surface = _surface(*moments, c_range)
    history = _improvements(surface, a_range, c_range)
    best = history[-1] if history else Improvement(np.nan, np.nan, np.nan)
    return GridSearch(best.a, best.c, best.correlation, surface, history, a_range, c_range)


def same_token_pairs(
    queries: ArrayLike, keys: ArrayLike, a: float, c: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Dot products and cosine distances of the same-token pairs after ``normalize``, (pair,) each.

    Computed from the scaled vectors themselves, in float64; `queries` and `keys` are
    (head, token, dim). A vector of no length has cosine distance 1 to everything.
    """
    moved, shifted = normalize(queries, keys, a, c)
    products = np.einsum("htd,htd->ht", moved, shifted).ravel()
    lengths = (np.linalg.norm(moved, axis=-1) * np.linalg.norm(shifted, axis=-1)).ravel()
    return products, 1 - _divide(products, lengths)


def correlation_along_c(
    queries: ArrayLike, keys: ArrayLike, a: float, c_values: ArrayLike
) -> NDArray[np.float64]:
    """Correlation for every c at one a, each from scaled vectors: how little c matters, (c,)."""
    return np.array(
        [
            pearson(*same_token_pairs(queries, keys, a, float(c))) if c else np.nan
            for c in _range(c_values, "c_values")
        ]
    )


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Pearson's correlation; not a number when either side does not vary beyond rounding."""
    if x.size < 2 or bool(_constant(x) | _constant(y)):
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _constant(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether what lies along the last axis varies by no more than rounding."""
    low, high = values.min(axis=-1), values.max(axis=-1)
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _pair_moments(
    queries: NDArray[np.float64], keys: NDArray[np.float64], a: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Over same-token pairs, for each a: the sums of squares of x, of y and of x y, each (a,).

    x is the dot product of query and translated key, y its cosine. Sums over dimensions are taken
    once, so that each a costs as much as there are pairs.
    """
    dots = np.einsum("htd,htd->ht", queries, keys).ravel()
    x = dots + np.outer(a, queries.sum(axis=-1))
    squared = np.outer(2 * a, keys.sum(axis=-1)) + (keys**2).sum(axis=-1).ravel()
    squared += queries.shape[-1] * (a**2)[:, None]  # |k + a|^2, (a, pair)
    lengths = np.sqrt(np.maximum(squared, 0)) * np.linalg.norm(queries, axis=-1).ravel()
    y = _divide(x, lengths)
    undefined = _constant(x) | _constant(y)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    var_x, var_y, cov = (np.einsum("ap,ap->a", *two) for two in ((x, x), (y, y), (x, y)))
    return np.where(undefined, np.nan, var_x), var_y, cov


def _surface(
    var_x: NDArray[np.float64],
    var_y: NDArray[np.float64],
    cov: NDArray[np.float64],
    c: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Correlations (a, c): products scale by c / c, cosines by that over |c| / |c|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        product = c * (1 / c)
        cosine = product / (np.abs(c) * np.abs(1 / c))
        top = -cov[:, None] * (product * cosine)
        return np.asarray(
            top / np.sqrt((var_x[:, None] * product**2) * (var_y[:, None] * cosine**2))
        )


def _improvements(
    surface: NDArray[np.float64], a: NDArray[np.float64], c: NDArray[np.float64]
) -> tuple[Improvement, ...]:
    """The log of the search: a in the outer loop, only gains that are more than rounding."""
    found: list[Improvement] = []
    best = 0.0
    for i, j in np.ndindex(*surface.shape):
        value = float(surface[i, j])
        if abs(value) > best + LEAST_GAIN:  # False for what is not a number
            best = abs(value)
            found.append(Improvement(float(a[i]), float(c[j]), value))
    return tuple(found)


def _divide(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _vectors(
    queries: ArrayLike, keys: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    queries, keys = np.asarray(queries, dtype=np.float64), np.asarray(keys, dtype=np.float64)
    if queries.ndim < 2 or queries.shape != keys.shape:
        raise ValueError(
            "queries and keys must be (..., token, dim) of one shape,"
            f" not {queries.shape} and {keys.shape}"
        )
    return queries, keys


def _range(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a list of numbers, not an array of shape {array.shape}")
    return array
