"""The two freedoms of attention and the notebook's search, against literal loops and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial import distance
from scipy.special import softmax

from core.analysis.normalization import (
    MIN_GAIN,
    NOTEBOOK_A,
    NOTEBOOK_C,
    GridSearch,
    grid_search,
    key_translation,
    normalize,
)

Floats = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=25)
pytestmark = pytest.mark.filterwarnings("error")

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 6))
CONSTANTS = st.floats(0.05, 20).flatmap(lambda c: st.sampled_from([c, -c]))


def clouds(seed: int, *shape: int, spread: float = 1.0) -> tuple[Floats, Floats]:
    """Queries and keys (..., token, dim) with centres of their own."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2, *shape[:-2], 1, shape[-1]))
    queries, keys = spread * (rng.normal(size=(2, *shape)) + centres)
    return queries, keys


def pairs_by_hand(queries: Any, keys: Any, a: float, c: float) -> tuple[Floats, Floats]:
    """Dot product and cosine distance of every same-token pair of every head, one by one."""
    products, cosines = [], []
    for head in range(queries.shape[0]):
        for token in range(queries.shape[1]):
            query = [float(value) * c for value in queries[head, token]]
            key = [(float(value) + a) / c for value in keys[head, token]]
            products.append(float(np.dot(query, key)))
            cosines.append(float(distance.cosine(query, key)))
    return np.array(products), np.array(cosines)


def search_by_hand(queries: Any, keys: Any, a_values: Any, c_values: Any) -> GridSearch:
    """The double loop of the notebook; a gain below rounding is none."""
    surface = np.full((len(a_values), len(c_values)), np.nan)
    history: list[Any] = []
    for i, a in enumerate(a_values):
        for j, c in enumerate(c_values):
            if c == 0:
                continue
            r = float(stats.pearsonr(*pairs_by_hand(queries, keys, a, c)).statistic)
            surface[i, j] = r
            if not history or abs(r) > abs(history[-1][2]) + MIN_GAIN:
                history.append((a, c, r))
    a, c, r = history[-1]
    return GridSearch(a, c, r, surface, tuple(history), a_values, c_values)


def assert_same_search(result: GridSearch, expected: GridSearch) -> None:
    np.testing.assert_allclose(result.surface, expected.surface, rtol=0, atol=1e-6)
    assert (result.a, result.c) == (expected.a, expected.c)
    assert abs(result.correlation - expected.correlation) < 1e-6
    assert [step[:2] for step in result.history] == [step[:2] for step in expected.history]
    steps = [step.correlation for step in result.history]
    np.testing.assert_allclose(steps, [step[2] for step in expected.history], rtol=0, atol=1e-6)


@some
@given(SIZES, SEEDS, st.booleans(), st.data())
def test_softmax_keeps_its_value_under_any_a_and_c(
    shape: tuple[int, int, int], seed: int, a_head: bool, data: Any
) -> None:
    """Whatever is masked: of every row, scores change by one number."""
    heads, _, dim = shape
    queries, keys = clouds(seed, *shape)
    values = st.floats(-10, 10)
    a: Any = data.draw(arrays(np.float64, (heads, dim), elements=values) if a_head else values)
    c: Any = data.draw(arrays(np.float64, heads, elements=CONSTANTS) if a_head else CONSTANTS)
    new_queries, new_keys = normalize(queries, keys, a, c)
    before, after = queries @ keys.swapaxes(1, 2), new_queries @ new_keys.swapaxes(1, 2)
    np.testing.assert_allclose(softmax(after, -1), softmax(before, -1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.ptp(after - before, axis=-1), 0, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 3, 3), (2, 3, 5), (2, 3, 4, 5), (4, 2)])
def test_each_head_is_scaled_by_its_own_c_and_its_keys_moved_by_its_own_vector(
    shape: tuple[int, ...],
) -> None:
    queries, keys = clouds(0, *shape)
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=(*shape[:-2], shape[-1])), -rng.uniform(0.5, 2, shape[:-2])
    new_queries, new_keys = normalize(queries, keys, a, c)
    assert new_queries.shape == new_keys.shape == shape
    assert new_queries.dtype == new_keys.dtype == np.float64
    for *head, token in np.ndindex(shape[:-1]):
        here, own = (*head, token), tuple(head)
        np.testing.assert_allclose(new_queries[here], queries[here] * c[own], rtol=1e-12)
        np.testing.assert_allclose(new_keys[here], (keys[here] + a[own]) / c[own], rtol=1e-12)


@pytest.mark.parametrize("c", [0, -0.0, [1.0, 0.0]])
def test_a_c_of_zero_is_refused(c: Any) -> None:
    with pytest.raises(ValueError, match="c must not be 0"):
        normalize(*clouds(3, 2, 3, 4), 0.5, c)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5, 3), (2, 3, 4, 1)])
def test_with_the_translation_the_centroids_of_queries_and_keys_meet(
    shape: tuple[int, ...],
) -> None:
    queries, keys = clouds(1, *shape, spread=3)
    a = key_translation(queries.astype(np.float32), keys.astype(np.float32))
    assert a.shape == (*shape[:-2], shape[-1])
    moved = keys.astype(np.float32) + a[..., None, :]
    np.testing.assert_allclose(moved.mean(-2), queries.mean(-2), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_the_search_finds_what_a_literal_double_loop_finds(seed: int) -> None:
    queries, keys = (side.astype(np.float32) for side in clouds(seed, 3, 5, 4, spread=0.5))
    grid = np.linspace(*NOTEBOOK_A), np.linspace(*NOTEBOOK_C)
    result = grid_search(queries, keys, *grid)
    assert_same_search(result, search_by_hand(queries, keys, *grid))
    assert result.c == grid[1][0]


def planted(best: float) -> tuple[Floats, Floats]:
    """Pairs whose cosine falls exactly with the product once `best` is added to the keys."""
    angles = np.linspace(0.1, 3.0, 12)
    queries = np.tile([1.0, 0.0], (1, 12, 1))
    keys = np.stack([np.cos(angles), np.sin(angles)], axis=-1)[None] - best
    return queries, keys


def test_a_best_a_inside_its_range_is_found_when_the_range_is_widened() -> None:
    queries, keys = planted(2.0)
    narrow = grid_search(queries, keys, np.linspace(-0.5, 0.5, 11), [-1.0, 1.0])
    wide = grid_search(queries, keys, np.linspace(-4, 4, 9), [-1.0, 1.0])
    assert (narrow.a_on_edge, wide.a_on_edge, wide.a) == (True, False, 2.0)
    assert wide.correlation == pytest.approx(-1, abs=1e-12)
    assert abs(narrow.correlation) < abs(wide.correlation)


def test_the_surface_is_flat_along_c() -> None:
    result = grid_search(*clouds(5, 2, 5, 3), np.linspace(-1, 1, 5), [-20, -1, 0, 0.05, 3])
    spread = np.ptp(result.surface[:, [0, 1, 3, 4]], axis=1).max()
    assert result.spread_along_c == pytest.approx(spread, abs=1e-15)
    assert spread < 1e-9


ONES = np.ones((2, 3, 4))


@pytest.mark.parametrize(
    ("queries", "keys", "ranges", "message"),
    [
        (ONES, ONES[..., 1:], ([0.0], [1.0]), "of one shape"),
        (ONES[0], ONES[0], ([0.0], [1.0]), r"must be \(head, token, dim\)"),
        (ONES, ONES, ([], [1.0]), "a_values must be a list"),
        (ONES, ONES, ([0.0], []), "c_values must be a list"),
    ],
)
def test_a_search_over_unlike_arrays_or_an_empty_range_is_refused(
    queries: Floats, keys: Floats, ranges: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        grid_search(queries, keys, *ranges)


UNDEFINED: dict[str, tuple[Floats, Floats]] = {
    "one pair": (np.ones((1, 1, 3)), np.full((1, 1, 3), 2.0)),
    "identical tokens": (np.tile([0.1, 0.7], (1, 5, 1)), np.tile([0.3, -0.2], (1, 5, 1))),
    "no queries": (np.zeros((2, 4, 3)), clouds(6, 2, 4, 3)[1]),
    "one dimension, one sign": (np.arange(1.0, 7).reshape(2, 3, 1), np.ones((2, 3, 1))),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_where_products_or_distances_do_not_vary_nothing_is_found(name: str) -> None:
    queries, keys = UNDEFINED[name]
    result = grid_search(queries, keys, [-0.3, 0.0, 0.4], [-2.0, 0.0, 0.7])
    assert np.isnan([*result.surface.flat, result.a, result.c, result.correlation]).all()
    assert (result.history, result.a_on_edge, result.spread_along_c) == ((), False, 0)


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 3, 4), (3, 4)])
def test_queries_and_keys_of_different_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="of one shape"):
        normalize(np.ones((2, 3, 4)), np.ones(shape), 0.5, 1)
