"""Correlation of distance and dot product against SciPy, NumPy, loops and a worked example."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from core.analysis.query_key.correlation import Measure, PairTable, correlations, pair_table
from core.analysis.query_key.distance import Distance, distances_between
from core.analysis.query_key.target import Target, matrix_target

Floats = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
DISTANCES: tuple[Distance, ...] = get_args(Distance)
MEASURES: tuple[Measure, ...] = get_args(Measure)
C = np.array([0.05, 0.2, 0.7, 1.0, 2.5, 20.0])
some = settings(deadline=None, max_examples=20)
pytestmark = pytest.mark.filterwarnings("error")


def clouds(seed: int, size: int = 6, dim: int = 4) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2, 1, dim))
    queries, keys = rng.normal(size=(2, size, dim)) * [[[1.0]], [[0.4]]] + centres
    return queries, keys


def every_pair(size: int) -> NDArray[np.intp]:
    return np.arange(size * size, dtype=np.intp)


def target_of(queries: Floats, keys: Floats) -> Target:
    """Of a head that permits every pair and scales by 0.5."""
    return matrix_target(0.5 * queries @ keys.T, np.ones((len(queries),) * 2, bool))


def centred(queries: Floats, keys: Floats) -> Floats:
    """Scores less the mean of their row, one row after another, (pair,)."""
    scores = 0.5 * queries @ keys.T
    return np.concatenate([row - sum(row) / len(row) for row in scores])


def table_of(queries: Floats, keys: Floats, pairs: NDArray[np.intp] | None = None) -> PairTable:
    chosen = every_pair(len(queries)) if pairs is None else pairs
    if len(queries) == 1:  # a query with one key does not count
        chosen = chosen[:0]
    return pair_table(queries, keys, target_of(queries, keys), chosen)


def distances_by_hand(queries: Floats, keys: Floats, c: float, distance: Distance) -> Floats:
    metric = {"squared euclidean": "sqeuclidean"}.get(distance, distance)
    return np.asarray(cdist(queries * c, keys / c, metric)).ravel()


def weighted_by_hand(x: Floats, d: Floats) -> tuple[float, int]:
    """Weights (d* - d)^2 below the 0.5th percentile d*, sums one pair after another."""
    limit = np.percentile(d, 0.5)
    near = [(x[i], d[i], (limit - d[i]) ** 2) for i in range(len(d)) if d[i] < limit]
    if len(near) < 3:
        return np.nan, len(near)
    total = sum(w for _, _, w in near)
    mean_x = sum(w * a for a, _, w in near) / total
    mean_y = sum(w * b for _, b, w in near) / total
    xy = sum(w * (a - mean_x) * (b - mean_y) for a, b, w in near)
    xx = sum(w * (a - mean_x) ** 2 for a, _, w in near)
    yy = sum(w * (b - mean_y) ** 2 for _, b, w in near)
    return xy / (xx * yy) ** 0.5, len(near)


def correlation_by_hand(x: Floats, d: Floats, measure: str) -> tuple[float, int]:
    if measure == "weighted":
        return weighted_by_hand(x, d)
    return float(stats.pearsonr(x, d).statistic), len(x)


@pytest.mark.parametrize("pairs", [[0, 35, 2], [0, 7, 35, 12, 5, 3, 9]])
def test_the_table_holds_the_product_and_both_squared_norms_of_each_pair(pairs: list[int]) -> None:
    queries, keys = clouds(0)
    table = table_of(queries, keys, np.array(pairs))
    i, j = np.divmod(pairs, 6)
    np.testing.assert_allclose(table.products, (queries[i] * keys[j]).sum(axis=1))
    np.testing.assert_allclose(table.query_squares, (queries[i] ** 2).sum(axis=1))
    np.testing.assert_allclose(table.key_squares, (keys[j] ** 2).sum(axis=1))
    np.testing.assert_allclose(table.target, centred(queries, keys)[pairs])


@some
@given(SEEDS, st.sampled_from(DISTANCES), st.integers(2, 6), st.integers(1, 5))
def test_distances_are_those_of_vectors_really_scaled(
    seed: int, distance: Distance, size: int, dim: int
) -> None:
    queries, keys = clouds(seed, size, dim)
    for c in C:
        result = distances_between(queries * c, keys / c, distance).ravel()
        expected = distances_by_hand(queries, keys, c, distance)
        np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-6)


def test_a_vector_of_no_length_has_cosine_distance_one() -> None:
    queries, keys = clouds(2)
    queries[1], keys[4] = 0, 0
    result = distances_between(queries, keys, "cosine")
    np.testing.assert_array_equal(result[1], 1)
    np.testing.assert_array_equal(result[:, 4], 1)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("seed", "size"), [(0, 26), (2, 41), (3, 10)])
def test_correlations_are_those_of_a_literal_computation(
    distance: Distance, measure: Measure, seed: int, size: int
) -> None:
    queries, keys = clouds(seed, size)
    pairs = np.random.default_rng(seed).permutation(size * size)[: size * size - 7].astype(np.intp)
    result = correlations(table_of(queries, keys, pairs), C, distance, measure)
    x = centred(queries, keys)[pairs]
    for at, c in enumerate(C):
        d = distances_by_hand(queries, keys, c, distance)[pairs]
        r, carrying = correlation_by_hand(x, d, measure)
        assert result.values[at] == pytest.approx(r, abs=1e-6, nan_ok=True)
        assert result.weighted_pairs[at] == carrying
    assert np.isnan(result.values).all() == (measure == "weighted" and size == 10)


NOTHING = {
    "one pair": clouds(5, 1),
    "identical tokens": (np.tile([0.3, 0.7], (6, 1)), np.tile([0.1, -0.2], (6, 1))),
    "no keys": (clouds(6)[0], np.zeros((6, 4))),
    "nothing at all": (np.zeros((6, 4)), np.zeros((6, 4))),
}


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("measure", MEASURES)
def test_where_products_do_not_vary_no_correlation_is_defined(
    name: str, distance: Distance, measure: Measure
) -> None:
    table = table_of(*NOTHING[name])
    assert np.isnan(correlations(table, C, distance, measure).values).all()


def test_where_all_cosine_distances_are_equal_there_is_no_correlation() -> None:
    rng = np.random.default_rng(6)
    queries, keys = np.abs(rng.normal(size=(2, 7, 1)))
    table = table_of(queries, keys)
    for measure in MEASURES:
        assert np.isnan(correlations(table, np.ones(1), "cosine", measure).values[0])
