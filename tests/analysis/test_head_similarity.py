"""Distances between heads against SciPy, and the map against points whose distances are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon

from core.analysis.head_patterns.similarity import (
    add_distances,
    compare_heads,
    map_heads,
    nearest_heads,
    stress,
)
from core.model import load, trace_text
from tests.analysis.traces import random_weights, trace_with_attention


def test_a_distance_is_scipys_averaged_over_tokens() -> None:
    weights = random_weights(1, 2, 3, 5)
    found = compare_heads(trace_with_attention(weights))
    heads = weights.reshape(6, 5, 5).astype(np.float64)
    expected = [
        [np.mean([jensenshannon(a[i], b[i], base=2) for i in range(5)]) for b in heads]
        for a in heads
    ]
    np.testing.assert_allclose(found.mean, expected, atol=1e-3)
    assert (found.compared, found.tokens) == (5, 5)


def test_a_long_text_is_compared_on_every_kth_token_and_says_so() -> None:
    weights = random_weights(2, 1, 3, 12)
    found = compare_heads(trace_with_attention(weights), max_logarithms=3 * 12 * 4)
    assert (found.compared, found.tokens) == (4, 12)
    rows = weights[0, :, ::3].astype(np.float64)
    expected = np.mean([jensenshannon(rows[0, i], rows[2, i], base=2) for i in range(4)])
    assert found.mean[0, 2] == pytest.approx(expected, abs=1e-3)


def test_texts_count_by_their_tokens() -> None:
    one, other = (compare_heads(trace_with_attention(random_weights(s, 1, 2, s))) for s in (3, 9))
    both = add_distances([one, other])
    assert both.mean[0, 1] == pytest.approx((3 * one.mean[0, 1] + 9 * other.mean[0, 1]) / 12)
    assert (both.compared, both.tokens) == (12, 12)


def test_heads_that_attend_alike_are_at_no_distance_and_opposite_ones_at_one() -> None:
    left, right = np.zeros((2, 4, 4), np.float32)
    left[:, 0] = right[:, 3] = 1
    found = compare_heads(trace_with_attention(np.stack([left, left, right])[None])).mean
    np.testing.assert_allclose(found, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-3)


def test_a_plane_is_mapped_without_stress_whatever_its_turn() -> None:
    points = np.random.default_rng(4).normal(size=(20, 2))
    distances = cdist(points, points)
    found = map_heads(distances)
    np.testing.assert_allclose(cdist(found.points, found.points), distances, atol=1e-3)
    assert found.stress < 1e-3


def test_the_map_is_no_worse_than_its_start_and_the_same_every_time() -> None:
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    distances = compare_heads(trace).mean
    found, again = map_heads(distances), map_heads(distances)
    np.testing.assert_array_equal(found.points, again.points)
    centred = -0.5 * distances**2
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    classical = vectors[:, -2:] * np.sqrt(values[-2:])
    assert found.stress <= stress(distances, classical)
    drawn, wanted = (
        each[np.triu_indices(72, 1)] for each in (cdist(*[found.points] * 2), distances)
    )
    assert found.stress == pytest.approx(np.sqrt(((drawn - wanted) ** 2).sum() / (drawn**2).sum()))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_few_heads_and_heads_without_a_difference_have_a_map(heads: int) -> None:
    alike = map_heads(np.zeros((heads, heads)))
    assert alike.points.shape == (heads, 2)
    assert np.isfinite(alike.points).all()
    apart = map_heads(np.ones((heads, heads)) - np.eye(heads))
    assert apart.points.shape == (heads, 2)
    assert apart.stress < 1e-3


def test_the_nearest_heads_come_first_without_the_head_itself() -> None:
    distances = np.array([[0, 0.3, 0.1], [0.3, 0, 0.2], [0.1, 0.2, 0]])
    assert nearest_heads(distances, 0, 5) == [(2, 0.1), (1, 0.3)]
    assert nearest_heads(distances, 1, 1) == [(2, 0.2)]
