"""Distances between heads against SciPy, and the map against points whose distances are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon

from core.analysis.head_patterns.similarity import (
    add_distances,
    compare_heads,
    head_distances,
    map_heads,
    nearest_heads,
    stress,
)
from tests.analysis.traces import random_weights, trace_with_attention


def test_a_distance_is_scipys_averaged_over_tokens() -> None:
    weights = random_weights(1, 2, 3, 5)
    distances = compare_heads(trace_with_attention(weights))
    heads = weights.reshape(6, 5, 5).astype(np.float64)
    expected = [
        [np.mean([jensenshannon(a[i], b[i], base=2) for i in range(5)]) for b in heads]
        for a in heads
    ]
    np.testing.assert_allclose(distances.mean, expected, atol=1e-3)
    np.testing.assert_allclose(head_distances(weights[1]), np.array(expected)[3:, 3:], atol=1e-4)
    assert (distances.compared, distances.tokens) == (5, 5)


def test_a_long_text_is_compared_on_every_kth_token() -> None:
    weights = random_weights(2, 1, 3, 12)
    distances = compare_heads(trace_with_attention(weights), max_logarithms=3 * 12 * 4)
    assert (distances.compared, distances.tokens) == (4, 12)
    rows = weights[0, :, ::3].astype(np.float64)
    expected = np.mean([jensenshannon(rows[0, i], rows[2, i], base=2) for i in range(4)])
    assert distances.mean[0, 2] == pytest.approx(expected, abs=1e-3)


def test_texts_count_by_their_tokens() -> None:
    one, other = (compare_heads(trace_with_attention(random_weights(s, 1, 2, s))) for s in (3, 9))
    both = add_distances([one, other])
    assert both.mean[0, 1] == pytest.approx((3 * one.mean[0, 1] + 9 * other.mean[0, 1]) / 12)
    assert (both.compared, both.tokens) == (12, 12)


def test_what_a_sink_takes_counts_as_the_attention_to_one_more_key() -> None:
    rows = np.array([[[0.5, 0.5]], [[0.25, 0.25]]], np.float32)  # of the second the sink has half
    expected = jensenshannon([0.5, 0.5, 0], [0.25, 0.25, 0.5], base=2)
    assert head_distances(rows)[0, 1] == pytest.approx(expected, abs=1e-4)
    assert expected == pytest.approx(0.558, abs=1e-3)


def test_equal_heads_have_distance_0_and_heads_without_overlap_1() -> None:
    left, right = np.zeros((2, 4, 4), np.float32)
    left[:, 0] = right[:, 3] = 1
    distances = compare_heads(trace_with_attention(np.stack([left, left, right])[None])).mean
    np.testing.assert_allclose(distances, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-3)


def test_a_plane_is_mapped_without_stress_in_a_fixed_position() -> None:
    points = np.random.default_rng(4).normal(size=(12, 2))
    distances = cdist(points, points)
    drawn = map_heads(distances)
    np.testing.assert_allclose(cdist(drawn.points, drawn.points), distances, atol=1e-3)
    assert drawn.stress < 1e-3
    # Along the principal axes, the farthest point of each on the positive side.
    spread = np.cov(drawn.points.T)
    assert abs(spread[0, 1]) < 1e-3 < spread[1, 1] < spread[0, 0]
    assert (drawn.points.max(axis=0) >= -drawn.points.min(axis=0)).all()


def test_the_map_is_no_worse_than_classical_scaling_and_the_same_every_time() -> None:
    distances = compare_heads(trace_with_attention(random_weights(6, 3, 8, 6))).mean
    drawn = map_heads(distances)
    np.testing.assert_array_equal(drawn.points, map_heads(distances).points)
    centred = -0.5 * distances**2
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    assert drawn.stress <= stress(distances, vectors[:, -2:] * np.sqrt(values[-2:]))
    upper = np.triu_indices(24, 1)
    shown, wanted = cdist(drawn.points, drawn.points)[upper], distances[upper]
    assert drawn.stress == pytest.approx(np.sqrt(((shown - wanted) ** 2).sum() / (shown**2).sum()))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_few_heads_and_equal_heads_have_a_map(heads: int) -> None:
    np.testing.assert_array_equal(map_heads(np.zeros((heads, heads))).points, np.zeros((heads, 2)))
    apart = map_heads(np.ones((heads, heads)) - np.eye(heads))
    assert apart.points.shape == (heads, 2)
    assert apart.stress < 1e-3


def test_the_nearest_heads_come_first_without_the_head_itself() -> None:
    distances = np.array([[0, 0.3, 0.1], [0.3, 0, 0.2], [0.1, 0.2, 0]])
    assert nearest_heads(distances, 0, 5) == [(2, 0.1), (1, 0.3)]
    assert nearest_heads(distances, 1, 1) == [(2, 0.2)]
