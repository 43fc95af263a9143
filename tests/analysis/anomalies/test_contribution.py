"""What heads move, ranks and hidden states, by hand and against literal loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies.contribution import (
    columns,
    contributions,
    null_attention,
    stable_rank,
    without_first,
)
from core.analysis.anomalies.massive import hidden_states
from tests.analysis.traces import random_trace, random_weights


def test_contributions_agree_with_a_loop_over_pairs() -> None:
    trace = random_trace(3)
    layer, head, size = 2, 1, trace.shape[2]
    weights, values = trace.attention(layer, head), trace.kv_values[layer, head]
    shares = np.zeros(size)
    for i in range(size):
        for j in range(size):
            shares[j] += np.linalg.norm(weights[i, j] * values[j])
    contribution = columns(trace).contribution
    np.testing.assert_allclose(contribution[layer, head], shares / shares.sum(), atol=1e-6)
    assert contribution.sum(axis=-1) == pytest.approx(1, abs=1e-5)


def test_contributions_sum_to_the_attention_and_an_empty_row_stays_empty() -> None:
    weights = np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(contributions(weights, np.array([0.0, 3.0])), [[0, 0], [0, 2]])
    np.testing.assert_array_equal(contributions(weights, np.array([2.0, 2.0])), weights)
    np.testing.assert_array_equal(contributions(weights, np.zeros(2)), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("norms", "score"),
    [
        ((0.0, 1.0, 2.0), 0.5),
        ((0.09, 1.0, 2.0), 0.5),
        ((0.3, 1.0, 2.0), 0.0),
        ((1.0, 1.0, 1.0), 0.0),
        ((0.0, 0.0, 0.0), 1.0),
        ((0.0, 0.0, 1.0), 0.8),
    ],
)
def test_null_attention_is_the_mass_on_values_that_are_nearly_zero(
    norms: tuple[float, ...], score: float
) -> None:
    assert null_attention(np.array([0.5, 0.3, 0.2]), np.array(norms)) == pytest.approx(score)


def test_without_the_first_token_rows_are_divided_by_what_remains() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(without_first(weights), np.array([[0.6, 0.4], [0, 0]]))


def test_the_stable_rank_agrees_with_singular_values() -> None:
    weights = random_weights(0, 1, 6, 20)[0]
    weights[0], weights[1] = weights[0, 0], np.eye(20)  # all attend the same way; each to itself
    singular = np.linalg.svd(weights.astype(np.float64), compute_uv=False)
    expected = (singular**2).sum(axis=-1) / singular[:, 0] ** 2
    np.testing.assert_allclose(stable_rank(weights), expected, rtol=1e-3)
    assert expected[:2] == pytest.approx([1, 20])


def test_a_massive_activation_is_beyond_100_and_1000_times_the_median() -> None:
    values = np.full((2, 5, 400), 0.1, dtype=np.float32)
    values[1, 0, 7], values[1, 3, 9] = -150, 90
    trace = random_trace(0, size=5)
    assert hidden_states(trace) is None
    states = hidden_states(replace(trace, hidden_states=values))
    assert states is not None
    np.testing.assert_array_equal(np.argwhere(states.massive), [[1, 0]])
    assert states.largest[1, 0] == 150
    assert states.norms[0] == pytest.approx(2)  # 0.1 times the root of 400
