"""What heads move, and hidden states, by hand and against literal loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies.contribution import (
    columns,
    contributions,
    null_attention,
    without_first,
)
from core.analysis.anomalies.massive import hidden_states
from tests.analysis.traces import random_trace


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
