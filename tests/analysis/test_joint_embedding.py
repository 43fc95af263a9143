"""Pictures of queries and keys against scikit-learn."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.preprocessing import normalize

from core.analysis.arrays import Floats
from core.analysis.projections.joint_embedding import Embedding, Metric, Projection, embed
from core.analysis.projections.umap_process import nearest_rows
from tests.analysis.traces import clouds

SEEDS = st.integers(0, 2**32 - 1)
METRICS: tuple[Metric, ...] = get_args(Metric)
QUICK: tuple[Projection, ...] = ("PCA", "t-SNE")
DIMENSIONS = (2, 3)
steady = settings(deadline=None, max_examples=20)
pytestmark = pytest.mark.filterwarnings("error")


def stacked(picture: Embedding) -> Floats:
    return np.vstack([picture.queries, picture.keys])


@steady
@given(SEEDS, st.integers(2, 9), st.integers(3, 6), st.sampled_from(METRICS))
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_pca_is_that_of_the_stacked_cloud_up_to_sign(
    dimensions: int, seed: int, size: int, dim: int, metric: Metric
) -> None:
    queries, keys = clouds(seed, size, dim)
    rows = np.vstack([queries, keys])
    oracle = PCA(dimensions, svd_solver="full")
    expected = oracle.fit_transform(normalize(rows) if metric == "cosine" else rows)
    found = embed(queries, keys, "PCA", dimensions=dimensions, metric=metric)
    assert found.queries.shape == found.keys.shape == (size, dimensions)
    signs = np.sign((stacked(found) * expected).sum(axis=0))
    np.testing.assert_allclose(stacked(found) * signs, expected, atol=1e-8 * np.abs(rows).max())
    assert found.share == pytest.approx(oracle.explained_variance_ratio_.sum(), abs=1e-12)


def check_neighbours(projection: Projection, dimensions: int, metric: Metric) -> None:
    """The same each time, finite, and neighbours near each other: four far groups of tokens."""
    rng = np.random.default_rng(0)
    corners = np.eye(6)[np.arange(20) % 4] * 10
    queries, keys = (corners + rng.normal(size=(20, 6)) * 0.1 for _ in range(2))
    before = queries.copy(), keys.copy()
    first, second = (
        embed(queries, keys, projection, dimensions=dimensions, metric=metric) for _ in range(2)
    )
    np.testing.assert_array_equal(stacked(first), stacked(second))
    assert first.queries.shape == first.keys.shape == (20, dimensions)
    assert np.isfinite(stacked(first)).all()
    assert first.share is None
    rows = np.vstack(before)
    np.testing.assert_array_equal(rows, np.vstack([queries, keys]))
    assert trustworthiness(rows, stacked(first), n_neighbors=5, metric=metric) > 0.9
    # keys in another order than they came in would not do
    shuffled = np.vstack([first.queries, first.keys[::-1]])
    assert trustworthiness(rows, shuffled, n_neighbors=5, metric=metric) < 0.9


@pytest.mark.nightly
@pytest.mark.parametrize(("dimensions", "metric"), zip(DIMENSIONS, METRICS, strict=True))
def test_tsne_is_steady_and_keeps_neighbours(dimensions: int, metric: Metric) -> None:
    check_neighbours("t-SNE", dimensions, metric)


DEGENERATE: dict[str, tuple[Floats, Floats]] = {
    "one token": clouds(0, 1, 5),
    "two tokens": clouds(0, 2, 5),
    "head of one dimension": clouds(0, 6, 1),
    "identical tokens": (np.tile([1.0, 2, 3], (6, 1)), np.tile([-1.0, 0, 1], (6, 1))),
    "constant keys": (clouds(0, 6, 5)[0], np.ones((6, 5))),
    "constant queries": (np.ones((6, 5)), clouds(0, 6, 5)[1]),
    "a key of no length": (clouds(0, 6, 5)[0], clouds(0, 6, 5)[1] * (np.arange(6) != 2)[:, None]),
    "no length": (np.zeros((5, 3)), np.zeros((5, 3))),
    "one point of many": (np.ones((5, 3)), np.ones((5, 3))),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_heads_have_a_picture(name: str, metric: Metric) -> None:
    queries, keys = DEGENERATE[name]
    for projection in QUICK:
        found = embed(queries, keys, projection, dimensions=3, metric=metric)
        assert found.queries.shape == found.keys.shape == (len(queries), 3)
        assert np.isfinite(stacked(found)).all()
        assert projection == "t-SNE" or 0 <= (found.share or 0) <= 1 + 1e-12


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_nearest_rows_are_those_of_a_plain_search(metric: str) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 32)).astype(np.float32)
    indices, distances = nearest_rows(rows, 6, metric)
    exact = cdist(rows, rows, metric)
    np.testing.assert_array_equal(indices, np.argsort(exact, axis=1)[:, :6])
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :6], atol=1e-6)
    assert not distances[:, 0].any()
