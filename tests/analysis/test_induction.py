"""Induction, on heads made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import induction_scores
from core.model import load, trace_repeated
from core.model.trace import Array, Layer, Trace
from tests.analysis.traces import random_weights, token, trace_with_attention

PERIOD = 5


def repeated(weights: Array, *, causal: bool = False) -> Trace:
    """[CLS] a b c d e a b c d e [SEP]."""
    words = [token("[CLS]", 0, -1, special=True)]
    for place in range(2 * PERIOD):
        name = "abcde"[place % PERIOD]
        words.append(replace(token(name, place + 1, place), id=10 + place % PERIOD))
    words.append(token("[SEP]", 2 * PERIOD + 1, -1, special=True))
    trace = trace_with_attention(weights, tuple(words))
    if not causal:
        return trace
    mask = np.where(np.tri(len(words), dtype=bool), 0, -np.inf).astype(np.float32)
    rules = (Layer(1.0, mask),) * len(trace.layers)
    return replace(trace, layers=rules, causal=True)


def test_an_induction_head_made_by_hand_has_its_number_and_its_neighbour_chance() -> None:
    size = 2 * PERIOD + 2
    weights = np.full((2, 2, size, size), 1 / size, dtype=np.float32)
    plant = np.full((size, size), 0.2 / (size - 1), dtype=np.float32)
    for place in range(PERIOD + 1, 2 * PERIOD + 1):
        plant[place, place - PERIOD + 1] = 0.8
    weights[1, 0, PERIOD + 1 : 2 * PERIOD + 1] = plant[PERIOD + 1 : 2 * PERIOD + 1]
    found = induction_scores([repeated(weights)])
    assert found.scores[1, 0] == pytest.approx(0.8, abs=1e-5)
    others = [found.scores[0, 0], found.scores[0, 1], found.scores[1, 1]]
    assert others == pytest.approx([1 / size] * 3, abs=1e-5)
    assert found.uniform == pytest.approx(np.full((2, 2), 1 / size))
    frame = pattern_table(trace_with_attention(random_weights(1, 2, 2, 6)), induction=found)
    named = frame[frame["class"] == "induction"]
    assert list(zip(named["layer"], named["head"], strict=True)) == [(2, 1)]


def test_the_score_is_the_mean_over_the_second_copy_of_every_sequence() -> None:
    one, other = (random_weights(seed, 1, 1, 12) for seed in (3, 4))
    places = range(PERIOD + 1, 2 * PERIOD + 1)
    expected = [each[0, 0, i, i - PERIOD + 1] for each in (one, other) for i in places]
    found = induction_scores([repeated(one), repeated(other)])
    assert found.scores.item() == pytest.approx(np.mean(expected), abs=1e-6)


def test_chance_of_a_causal_head_is_over_what_it_may_see() -> None:
    found = induction_scores([repeated(random_weights(5, 1, 1, 12), causal=True)])
    seen = [1 / (place + 1) for place in range(PERIOD + 1, 2 * PERIOD + 1)]
    assert found.uniform.item() == pytest.approx(np.mean(seen))


def test_what_is_not_repeated_is_refused() -> None:
    with pytest.raises(ValueError, match="repeated twice"):
        induction_scores([trace_with_attention(random_weights(1, 1, 1, 6))])
    with pytest.raises(ValueError, match="no repeated sequence"):
        induction_scores([])


def test_the_bundled_model_reads_a_random_sequence_twice() -> None:
    traces = list(trace_repeated(load("bundled/minilm"), length=20, sequences=3))
    assert len(traces) == 3
    halves = []
    for trace in traces:
        assert [trace.tokens[0].text, trace.tokens[-1].text] == ["[CLS]", "[SEP]"]
        ids = [each.id for each in trace.tokens[1:-1]]
        assert ids[:20] == ids[20:]
        assert len(set(ids[:20])) == 20
        assert not any(each.special for each in trace.tokens[1:-1])
        halves.append(tuple(ids[:20]))
    assert len(set(halves)) == 3
    assert induction_scores(traces).scores.max() < 0.2  # a sentence encoder has no use for it
