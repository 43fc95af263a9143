"""Rollout and the mean over everything, against loops and matrices multiplied by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.head_patterns.evidence import evidence
from core.analysis.head_patterns.measure import measure_text
from core.analysis.rollout import overall_attention, uniform_overall
from tests.analysis.traces import causal, plain_tokens, random_weights, trace_with_attention


def test_rollout_multiplies_half_of_the_mean_and_half_of_the_identity() -> None:
    weights = random_weights(1, 3, 2, 4)
    first, second, third = (weights.mean(axis=1).astype(np.float64) + np.eye(4)) / 2
    result = overall_attention(trace_with_attention(weights), "rollout")
    np.testing.assert_allclose(result, third @ second @ first, atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-6)


def test_in_a_causal_model_nothing_rolls_out_to_what_comes_later() -> None:
    trace = causal(trace_with_attention(random_weights(3, 2, 2, 4)))
    for kind in ("mean", "rollout"):
        assert not np.triu(overall_attention(trace, kind), 1).any()  # type: ignore[arg-type]
        assert not np.triu(uniform_overall(trace, kind), 1).any()  # type: ignore[arg-type]
    rows = np.array([[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 4] * 4])
    step = (rows + np.eye(4)) / 2
    np.testing.assert_allclose(uniform_overall(trace, "rollout"), step @ step, atol=1e-6)


def test_evidence_stands_token_by_token_and_is_empty_where_there_is_no_pair() -> None:
    tokens = plain_tokens("a", "b", "a", "a")
    weights = random_weights(5, 1, 1, 4)[0, 0]
    even = np.full((4, 4), 0.25, dtype=np.float32)
    result = evidence(weights, even, tokens, "same_token")
    expected = [
        weights[0, 2] + weights[0, 3],
        np.nan,
        weights[2, 0] + weights[2, 3],
        weights[3, 0] + weights[3, 2],
    ]
    np.testing.assert_allclose(result.share, expected, atol=1e-6)
    np.testing.assert_allclose(result.uniform, [0.5, np.nan, 0.5, 0.5])
    assert result.tokens == 3
    assert result.strongest.tolist() == weights.argmax(axis=1).tolist()


def test_the_mean_of_the_evidence_is_the_score() -> None:
    weights = random_weights(6, 1, 1, 6)
    trace = trace_with_attention(weights, plain_tokens("a", ",", "b", "a", ".", "b"))
    even = np.full((6, 6), 1 / 6, dtype=np.float32)
    measured = measure_text(trace)
    scores = dict(zip(("previous", "next", "self", "first"), measured.sums[:4, 0, 0], strict=True))
    for name, total in scores.items():
        result = evidence(weights[0, 0], even, trace.tokens, name)
        assert np.nansum(result.share) == pytest.approx(total, abs=1e-5)
    broad = evidence(weights[0, 0], even, trace.tokens, "broad")
    assert np.nansum(broad.share) == pytest.approx(measured.sums[-1, 0, 0], abs=1e-5)
    np.testing.assert_allclose(broad.uniform, 1, atol=1e-5)


def test_what_the_model_forbids_is_no_evidence() -> None:
    even = np.tril(np.ones((3, 3), np.float32))
    even /= even.sum(axis=1, keepdims=True)
    weights = np.array([[1, 0, 0], [0.4, 0.6, 0], [0.2, 0.3, 0.5]], dtype=np.float32)
    tokens = plain_tokens("a", "b", "a")
    assert evidence(weights, even, tokens, "next").tokens == 0
    result = evidence(weights, even, tokens, "same_token")
    np.testing.assert_allclose(result.share, [np.nan, np.nan, 0.2], atol=1e-6)
