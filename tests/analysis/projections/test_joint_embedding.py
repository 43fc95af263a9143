"""Pictures of queries and keys against scikit-learn, singular values and rival pictures."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.preprocessing import normalize

from core.analysis.projections.joint_embedding import Embedding, Metric, Projection, biplot, embed
from core.analysis.projections.umap_process import nearest_rows
from core.model import load, trace_text

Floats = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
METRICS: tuple[Metric, ...] = get_args(Metric)
QUICK: tuple[Projection, ...] = ("PCA", "biplot", "t-SNE")
DIMENSIONS = (2, 3)
steady = settings(deadline=None, max_examples=20)
pytestmark = pytest.mark.filterwarnings("error")


def clouds(seed: int, size: int = 9, dim: int = 5) -> tuple[Floats, Floats]:
    """Clouds of different size around different centres, (token, dim) each."""
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(size, dim)) * 1.5 + rng.normal(size=dim)
    return queries, rng.normal(size=(size, dim)) * 0.6 + rng.normal(size=dim)


def centred_logits(queries: Floats, keys: Floats) -> Floats:
    """Dot products, one after another, less the mean of their row."""
    products = np.array([[np.dot(query, key) for key in keys] for query in queries])
    return np.array([row - sum(row) / len(row) for row in products])


def stacked(picture: Embedding) -> Floats:
    return np.vstack([picture.queries, picture.keys])


def error(picture: Embedding, target: Floats) -> float:
    """Sum of squares of what the picture's inner products leave of the target."""
    return float(((picture.queries @ picture.keys.T - target) ** 2).sum())


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


@steady
@given(SEEDS, st.integers(2, 9), st.integers(1, 6))
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_biplot_leaves_only_the_smaller_singular_values(
    dimensions: int, seed: int, size: int, dim: int
) -> None:
    queries, keys = clouds(seed, size, dim)
    target = centred_logits(queries, keys)
    squares = np.linalg.svd(target, compute_uv=False) ** 2
    found = biplot(queries, keys, dimensions)
    rest, total = squares[dimensions:].sum(), squares.sum()
    assert error(found, target) == pytest.approx(rest, rel=1e-6, abs=1e-12 * total)
    assert found.share == pytest.approx(1 - rest / total, abs=1e-9)
    assert found.queries.shape == found.keys.shape == (size, dimensions)


@steady
@given(SEEDS, st.integers(2, 9), st.integers(1, 6))
def test_both_clouds_of_a_biplot_have_the_same_mean_square_norm(
    seed: int, size: int, dim: int
) -> None:
    found = biplot(*clouds(seed, size, dim))
    means = [sum(float(p @ p) for p in cloud) / size for cloud in (found.queries, found.keys)]
    assert means[0] == pytest.approx(means[1], rel=1e-9)


def test_noise_mirrors_no_axis_of_a_biplot() -> None:
    """Of all heads of a sentence; without a rule of sign five of 72 were mirrored."""
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    mirrored = 0
    for at in np.ndindex(*trace.shape[:2]):
        queries, keys = (v[at].astype(float) for v in (trace.queries, trace.keys))
        first = biplot(queries, keys)
        for seed in range(3):
            noise = 1e-6 * np.random.default_rng(seed).normal(size=(2, *queries.shape))
            second = biplot(queries + noise[0], keys + noise[1])
            mirrored += int(((stacked(first) * stacked(second)).sum(axis=0) < 0).any())
    assert mirrored == 0


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_embed_passes_on_dimensions_and_leaves_the_biplot_without_a_metric(
    dimensions: int,
) -> None:
    queries, keys = clouds(4)
    expected = biplot(queries, keys, dimensions)
    for metric in METRICS:
        found = embed(queries, keys, "biplot", dimensions=dimensions, metric=metric)
        np.testing.assert_array_equal(stacked(found), stacked(expected))
        assert found.share == expected.share


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


@pytest.mark.slow
@pytest.mark.parametrize(("dimensions", "metric"), zip(DIMENSIONS, METRICS, strict=True))
def test_tsne_is_steady_and_keeps_neighbours(dimensions: int, metric: Metric) -> None:
    check_neighbours("t-SNE", dimensions, metric)


def test_cosine_does_not_see_lengths() -> None:
    queries, keys = clouds(6, 12)
    powers = 2.0 ** np.random.default_rng(6).integers(-3, 4, (12, 1))
    first = embed(queries, keys, "PCA", metric="cosine")
    second = embed(queries * powers, keys / powers, "PCA", metric="cosine")
    np.testing.assert_allclose(stacked(first), stacked(second), atol=1e-12)
    plain = embed(queries * powers, keys / powers, "PCA")
    assert np.abs(stacked(plain) - stacked(second)).max() > 0.1


DEGENERATE: dict[str, tuple[Floats, Floats]] = {
    "one token": clouds(0, 1),
    "two tokens": clouds(0, 2),
    "head of one dimension": clouds(0, 6, 1),
    "identical tokens": (np.tile([1.0, 2, 3], (6, 1)), np.tile([-1.0, 0, 1], (6, 1))),
    "constant keys": (clouds(0, 6)[0], np.tile(clouds(0, 1)[1], (6, 1))),
    "constant queries": (np.tile(clouds(0, 1)[0], (6, 1)), clouds(0, 6)[1]),
    "a key of no length": (clouds(0, 6)[0], clouds(0, 6)[1] * (np.arange(6) != 2)[:, None]),
    "no length": (np.zeros((5, 3)), np.zeros((5, 3))),
    "one point of many": (np.ones((5, 3)), np.ones((5, 3))),
}


CASES = [(projection, name) for projection in QUICK for name in DEGENERATE]


@pytest.mark.parametrize(("projection", "name"), CASES)
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_heads_have_a_picture(projection: Projection, name: str, metric: Metric) -> None:
    queries, keys = DEGENERATE[name]
    found = embed(queries, keys, projection, dimensions=3, metric=metric)
    assert found.queries.shape == found.keys.shape == (len(queries), 3)
    assert np.isfinite(stacked(found)).all()
    if projection != "t-SNE":
        assert found.share is not None
        assert 0 <= found.share <= 1 + 1e-12


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_nearest_rows_are_those_of_a_plain_search(metric: str) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 32)).astype(np.float32)
    indices, distances = nearest_rows(rows, 6, metric)
    exact = cdist(rows, rows, metric)
    np.testing.assert_array_equal(indices, np.argsort(exact, axis=1)[:, :6])
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :6], atol=1e-6)
    np.testing.assert_array_equal(indices[:, 0], np.arange(100))
    assert not distances[:, 0].any()
