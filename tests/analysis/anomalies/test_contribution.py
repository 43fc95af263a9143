"""What heads move, lengths of queries and keys, and hidden states, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies.contribution import (
    contributions,
    null_attention,
    without_first,
)
from core.analysis.anomalies.massive import hidden_states
from core.analysis.anomalies.measures import norm_disparity
from tests.analysis.traces import random_trace


def test_contributions_sum_to_the_attention_and_an_empty_row_stays_empty() -> None:
    weights = np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(contributions(weights, np.array([0.0, 3.0])), [[0, 0], [0, 2]])
    np.testing.assert_array_equal(contributions(weights, np.array([2.0, 2.0])), weights)
    np.testing.assert_array_equal(contributions(weights, np.zeros(2)), np.zeros((2, 2)))


def test_null_attention_is_all_where_no_value_has_a_length_and_on_the_short_ones_else() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    for norms, mass in (((0, 0, 0), 1), ((0, 0, 1), 0.8), ((0, 1, 2), 0.5), ((1, 1, 1), 0)):
        assert null_attention(weights, np.array(norms)) == pytest.approx(mass)


def test_norms_are_compared_by_mean_and_by_median() -> None:
    trace = random_trace(0, layers=1, heads=1, size=3, dim=2)
    queries = np.array([[[[3, 4], [0, 5], [0, 20]]]], dtype=np.float32)  # 5, 5, 20
    keys = np.array([[[[1, 0], [0, 2.5], [0, 4]]]], dtype=np.float32)  # 1, 2.5, 4
    norms = norm_disparity(replace(trace, queries=queries, kv_keys=keys))
    assert [each.item() for each in norms.values()] == pytest.approx([10, 2.5, 7.5, 1], abs=1e-5)


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
