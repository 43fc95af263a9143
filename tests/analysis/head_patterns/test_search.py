"""The search for heads that follow a pattern, against slow oracles."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.head_patterns.search import HIGHLIGHTED, find_heads
from core.model.trace import Trace
from tests.analysis.traces import plain_tokens, spelled, trace_with_attention

UNIFORM, EYE = np.full((4, 4), 0.25), np.eye(4)


def planted(layer: int, head: int, offset: int, weight: float) -> Trace:
    """Uniform heads, except one that gives `weight` to the token at an offset."""
    weights = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)
    for query in range(6):
        if 0 <= query + offset < 6:
            weights[layer, head, query] = (1 - weight) / 5
            weights[layer, head, query, query + offset] = weight
    return trace_with_attention(weights, plain_tokens(*"abcdef"))


def test_a_planted_head_and_no_other_holds() -> None:
    search = find_heads(planted(1, 2, -1, 0.7), "previous")
    assert np.argwhere(search.holds).tolist() == [[1, 2]]
    *place, score = search.ranked()[0]
    assert place == [1, 2]
    assert score == pytest.approx(0.7, abs=1e-6)
    assert len(search.ranked()) == 6
    assert search.uniform == pytest.approx(1 / 6, abs=1e-6)


def test_where_none_holds_the_closest_still_ranks_first() -> None:
    search = find_heads(planted(0, 1, 1, 0.4), "next")
    assert not search.holds.any()
    assert search.ranked()[0][:2] == (0, 1)


def test_what_a_text_lacks_cannot_be_measured() -> None:
    search = find_heads(planted(0, 0, 1, 0.9), "sentence")
    assert not search.measurable
    assert not search.holds.any()
    assert search.ranked() == []


def test_a_uniform_head_does_not_hold_even_above_the_threshold() -> None:
    tokens = spelled("[CLS] x [SEP]")
    trace = trace_with_attention(np.full((1, 1, 3, 3), 1 / 3, np.float32), tokens)
    search = find_heads(trace, "delimiters")
    assert search.uniform == pytest.approx(2 / 3, abs=1e-6)
    assert search.scores[0, 0] > HIGHLIGHTED["delimiters"].threshold
    assert not search.holds.any()


def test_broad_is_measured_by_entropy() -> None:
    weights = np.stack([UNIFORM, EYE, 0.5 * UNIFORM + 0.5 * EYE])[None].astype(np.float32)
    trace = trace_with_attention(weights)
    assert find_heads(trace, "broad").holds.tolist() == [[True, False, False]]
