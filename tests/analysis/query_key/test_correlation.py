"""Correlation of distance and dot product against SciPy, NumPy, loops and a worked example."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from core.analysis.query_key.correlation import (
    MAX_PAIRS,
    MAX_RANKED_PAIRS,
    Distance,
    Measure,
    PairTable,
    choose_pairs,
    closed_form_c,
    correlations,
    distances,
    pair_table,
    weighted_correlation,
)
from core.analysis.query_key.target import Target, matrix_target, rows_of

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
    result = stats.spearmanr(x, d) if measure == "spearman" else stats.pearsonr(x, d)
    return float(result.statistic), len(x)


@pytest.mark.parametrize(
    "allowed", [np.ones((9, 9), bool), np.tri(9, dtype=bool), np.zeros((9, 9), bool)]
)
def test_few_pairs_are_all_taken_but_those_of_a_query_with_one_key(
    allowed: NDArray[np.bool_],
) -> None:
    rows = rows_of(allowed)
    pairs = np.column_stack([np.repeat(rows.queries, rows.counts), rows.keys]).tolist()
    expected = [[i, j] for i, j in np.argwhere(allowed).tolist() if allowed[i].sum() > 1]
    assert pairs == expected
    assert choose_pairs(rows, "pearson").tolist() == list(range(len(expected)))


@pytest.mark.parametrize("measure", ["pearson", "spearman"])
def test_of_many_pairs_a_fixed_random_sample_is_taken(measure: Measure) -> None:
    rows = rows_of(np.tri(400, dtype=bool))
    pairs = choose_pairs(rows, measure)
    assert len(pairs) == (MAX_RANKED_PAIRS if measure == "spearman" else MAX_PAIRS)
    assert len(set(pairs.tolist())) == len(pairs)
    np.testing.assert_array_equal(pairs, choose_pairs(rows, measure))
    # the mean of a fair sample of rows lies within five standard errors of the mean of all
    every = np.repeat(rows.queries, rows.counts)
    assert abs(every[pairs].mean() - every.mean()) < 5 * every.std() / len(pairs) ** 0.5


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
    result = distances(table_of(queries, keys), C, distance)
    expected = [distances_by_hand(queries, keys, c, distance) for c in C]
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-6)


def test_a_vector_of_no_length_has_cosine_distance_one() -> None:
    queries, keys = clouds(2)
    queries[1], keys[4] = 0, 0
    result = distances(table_of(queries, keys), C, "cosine").reshape(-1, 6, 6)
    np.testing.assert_array_equal(result[:, 1], 1)
    np.testing.assert_array_equal(result[:, :, 4], 1)


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_a_weighted_correlation_is_that_of_numpys_covariance(scale: float) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 12))
    weights = np.array([*rng.uniform(0.1, 1, 8), 0, 0, 0, 0])
    cov = np.cov(x[:8], (x + y)[:8], aweights=weights[:8])
    expected = cov[0, 1] / (cov[0, 0] * cov[1, 1]) ** 0.5
    assert weighted_correlation(x, x + y, scale * weights) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weights", [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
def test_a_weighted_correlation_of_what_does_not_vary_is_undefined(weights: list[float]) -> None:
    x, y = np.array([1.0, 1.0, 5.0]), np.array([2.0, 3.0, 4.0])
    assert np.isnan(weighted_correlation(x, y, np.array(weights, float)))


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
    assert closed_form_c(table) is None


def squared_r(table: PairTable, log_c: float) -> float:
    """Pearson's r of the squared distance at one c, straight from its definition."""
    u = np.exp(2 * log_c)
    # divided by 1 + u + 1/u, which changes no correlation and keeps extreme c in range
    d = (u * table.query_squares + table.key_squares / u - 2 * table.products) / (1 + u + 1 / u)
    return float(np.corrcoef(d, table.target)[0, 1])


def numeric_c(table: PairTable) -> float | None:
    """The best c of a fine grid, refined; None where no c is better than those at the ends."""
    grid = np.linspace(np.log(1e-5), np.log(1e5), 2001)
    curve = np.array([squared_r(table, log_c) for log_c in grid])
    at = int(curve.argmin())
    if curve[at] > min(curve[0], curve[-1]) - 1e-9:
        return None
    near = minimize_scalar(
        lambda log_c: squared_r(table, log_c),
        bounds=(grid[at - 1], grid[at + 1]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(np.exp(near.x))


def assert_best(table: PairTable, expected: float | None) -> None:
    result = closed_form_c(table)
    if expected is None:
        assert result is None
        return
    assert result is not None
    assert squared_r(table, np.log(result)) <= squared_r(table, np.log(expected)) + 1e-10
    assert result == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [3, 13])
def test_the_closed_form_is_what_a_fine_search_finds(seed: int, size: int) -> None:
    table = table_of(*clouds(seed, size, 1 + seed % 5))
    assert_best(table, numeric_c(table))


def made(products: Any, query_squares: Any, key_squares: Any) -> PairTable:
    """A table whose target is the dot product itself."""
    return PairTable(
        *(np.asarray(v, float) for v in (products, products, query_squares, key_squares))
    )


@pytest.mark.parametrize("end", [20, -20])
def test_where_one_norm_alone_follows_the_product_there_is_no_best_c(end: int) -> None:
    """Only the query's norm: c runs to infinity; only the key's: to zero."""
    x, other = np.random.default_rng(7).normal(size=(2, 50))
    table = made(x, 9 - x, 9 + other) if end > 0 else made(x, 9 + other, 9 - x)
    assert squared_r(table, end) == pytest.approx(-1, abs=1e-12)
    assert closed_form_c(table) is None


def test_values_that_differ_by_rounding_alone_share_a_rank() -> None:
    """Cosine distances in one dimension are 0 or 2; distances of mirrored pairs are equal."""
    rng = np.random.default_rng(5)
    queries, keys = rng.normal(size=(2, 7, 1))
    table = table_of(queries, keys)
    result = correlations(table, np.ones(1), "cosine", "spearman").values[0]
    signs = np.where(queries * keys.T > 0, 0.0, 2.0).ravel()
    expected = stats.spearmanr(centred(queries, keys), signs).statistic
    assert result == pytest.approx(expected, abs=1e-12)


def test_where_all_cosine_distances_are_equal_there_is_no_correlation() -> None:
    rng = np.random.default_rng(6)
    queries, keys = np.abs(rng.normal(size=(2, 7, 1)))
    table = table_of(queries, keys)
    for measure in MEASURES:
        assert np.isnan(correlations(table, np.ones(1), "cosine", measure).values[0])
