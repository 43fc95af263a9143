"""Induction, on heads made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import induction_scores
from tests.analysis.traces import causal, random_weights, token, trace_with_attention

if TYPE_CHECKING:
    from core.model.trace import Array, Trace

PERIOD = 5
SECOND = range(PERIOD + 1, 2 * PERIOD + 1)  # positions of the second copy


def repeated(weights: Array) -> Trace:
    """[CLS] a b c d e a b c d e [SEP]."""
    words = [
        replace(token("abcde"[i % PERIOD], i + 1, i), id=10 + i % PERIOD) for i in range(2 * PERIOD)
    ]
    ends = (token(name, 11 * i, -1, special=True) for i, name in enumerate(["[CLS]", "[SEP]"]))
    first, last = ends
    return trace_with_attention(weights, (first, *words, last))


def test_an_induction_head_made_by_hand_has_its_score_and_its_name() -> None:
    size = 2 * PERIOD + 2
    weights = np.full((2, 2, size, size), 1 / size, dtype=np.float32)
    for position in SECOND:
        weights[1, 0, position] = 0.2 / (size - 1)
        weights[1, 0, position, position - PERIOD + 1] = 0.8
    induction = induction_scores([repeated(weights)])
    expected = [1 / size, 1 / size, 0.8, 1 / size]
    assert induction.scores.ravel() == pytest.approx(expected, abs=1e-5)
    assert induction.uniform == pytest.approx(np.full((2, 2), 1 / size))
    table = pattern_table(trace_with_attention(random_weights(1, 2, 2, 6)), induction=induction)
    assert (table["class"] == "induction").tolist() == [False, False, True, False]
    assert table["induction"].tolist() == induction.scores.ravel().tolist()
    assert table["induction_uniform"].tolist() == induction.uniform.ravel().tolist()


def test_the_score_is_the_mean_over_the_second_copy_of_every_sequence() -> None:
    one, other = (random_weights(seed, 1, 1, 12) for seed in (3, 4))
    expected = [each[0, 0, i, i - PERIOD + 1] for each in (one, other) for i in SECOND]
    induction = induction_scores([repeated(one), repeated(other)])
    assert induction.scores.item() == pytest.approx(np.mean(expected), abs=1e-6)


def test_the_uniform_baseline_of_a_causal_head_is_over_what_it_may_see() -> None:
    induction = induction_scores([causal(repeated(random_weights(5, 1, 1, 12)))])
    expected = np.mean([1 / (position + 1) for position in SECOND])
    assert induction.uniform.item() == pytest.approx(expected)


def test_what_is_not_repeated_is_refused() -> None:
    with pytest.raises(ValueError, match="repeated twice"):
        induction_scores([trace_with_attention(random_weights(1, 1, 1, 6))])
    with pytest.raises(ValueError, match="no repeated sequence"):
        induction_scores([])
