"""The two freedoms of attention and the notebook's search, against literal loops and SciPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.special import softmax
from sklearn.metrics.pairwise import paired_cosine_distances

from core.analysis.arrays import Floats
from core.analysis.normalization import (
    MIN_GAIN,
    NOTEBOOK_A,
    NOTEBOOK_C,
    FittedLine,
    SearchRange,
    fit_line,
    grid_search,
    key_translation,
    normalize,
    regression_of,
    search_layer,
)
from core.model import load, trace_text
from tests.analysis.traces import clouds

pytestmark = pytest.mark.filterwarnings("error")

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 6))
CONSTANTS = st.floats(0.05, 20).flatmap(lambda c: st.sampled_from([c, -c]))


def pairs_at(queries: Any, keys: Any, a: float, c: float) -> tuple[Floats, Floats]:
    """Dot product and cosine distance of every same-token pair of every head."""
    dim = queries.shape[-1]
    q = c * queries.astype(np.float64).reshape(-1, dim)
    k = (keys.astype(np.float64).reshape(-1, dim) + a) / c
    return (q * k).sum(axis=1), paired_cosine_distances(q, k)


@settings(deadline=None, max_examples=25)
@given(SIZES, st.integers(0, 2**32 - 1), st.booleans(), st.data())
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


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (4, 2)])
def test_each_head_is_scaled_by_its_own_c_and_its_keys_moved_by_its_own_vector(
    shape: tuple[int, ...],
) -> None:
    queries, keys = (each.astype(np.float32) for each in clouds(0, *shape))
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=(*shape[:-2], shape[-1])), -rng.uniform(0.5, 2, shape[:-2])
    new_queries, new_keys = normalize(queries, keys, a, c)
    assert new_queries.dtype == new_keys.dtype == np.float64
    translation = key_translation(queries, keys)
    for head in np.ndindex(shape[:-2]):
        np.testing.assert_allclose(new_queries[head], queries[head] * c[head], rtol=1e-6)
        np.testing.assert_allclose(new_keys[head], (keys[head] + a[head]) / c[head], rtol=1e-6)
        centroid = keys[head].mean(axis=0) + translation[head]
        np.testing.assert_allclose(centroid, queries[head].mean(axis=0), atol=1e-6)


def test_a_c_of_zero_and_unlike_shapes_are_refused() -> None:
    for c in (0, -0.0, [1.0, 0.0]):
        with pytest.raises(ValueError, match="c must not be 0"):
            normalize(*clouds(3, 2, 3, 4), 0.5, c)
    for shape in ((2, 3, 5), (1, 3, 4), (3, 4)):
        with pytest.raises(ValueError, match="of one shape"):
            normalize(ONES, np.ones(shape), 0.5, 1)


def test_the_search_finds_what_the_notebooks_double_loop_finds() -> None:
    queries, keys = (side.astype(np.float32) for side in clouds(0, 3, 5, 4))
    a_values, c_values = np.linspace(*NOTEBOOK_A), np.linspace(*NOTEBOOK_C)
    result = grid_search(queries, keys, a_values, c_values)
    history: list[Any] = []
    for (i, a), (j, c) in product(enumerate(a_values), enumerate(c_values)):
        r = float(stats.pearsonr(*pairs_at(queries, keys, a, c)).statistic)
        assert result.surface[i, j] == pytest.approx(r, abs=1e-6)
        if not history or abs(r) > abs(history[-1][2]) + MIN_GAIN:  # less is rounding
            history.append((a, c, r))
    assert len(history) > 1
    np.testing.assert_allclose(result.history, history, rtol=0, atol=1e-6)
    assert (result.a, result.c, result.correlation) == result.history[-1]
    assert result.c == c_values[0]


def test_a_best_a_inside_its_range_is_found_when_the_range_is_widened() -> None:
    """Of pairs whose cosine falls exactly with the product once 2 is added to the keys."""
    angles = np.linspace(0.1, 3.0, 12)
    queries = np.tile([1.0, 0.0], (1, 12, 1))
    keys = np.stack([np.cos(angles), np.sin(angles)], axis=-1)[None] - 2
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
    assert not result.defined


def test_a_layer_of_a_text_is_searched_and_its_pairs_have_a_line() -> None:
    capybara = trace_text(load("bundled/minilm"), "The brown capybara is sleeping now.")
    search = search_layer(capybara, 0)
    assert (search.a, search.c) == (-0.5, -2.0)
    products, distances = pairs_at(capybara.queries[0], capybara.keys[0], search.a, search.c)
    result = regression_of(capybara, 0, search)
    np.testing.assert_allclose(result.distances, distances, atol=1e-9)
    np.testing.assert_allclose(result.products, products, rtol=1e-9)
    assert result.line == pytest.approx(np.polyfit(distances, products, 1))
    wide = search_layer(capybara, 0, SearchRange(50.0, 1.0, 41))
    assert wide.a_values[[0, 20, 40]].tolist() == [-50, 0, 50]
    assert wide.c_values[[0, 20, 40]].tolist() == [-1, 0, 1]
    assert not wide.a_on_edge
    assert abs(wide.correlation) > abs(search.correlation)


def test_a_line_is_fitted_in_y_unless_x_does_not_vary() -> None:
    """Through (0, 0), (1, 1), (2, 5): slope 5 / 2 about the middle (1, 2)."""
    line = fit_line(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0]))
    assert line == pytest.approx(FittedLine(2.5, -0.5))
    for x in ([], [1.0], [2.0, 2.0, 2.0]):
        assert fit_line(np.array(x), np.arange(len(x), dtype=float)) is None
