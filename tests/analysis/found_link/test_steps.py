"""The numbers from query and key to attention, against the trace's own attention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.found_link import find_link
from core.analysis.found_link.steps import SHOWN_KEYS, attention_steps
from core.model import load, trace_text
from core.model.trace import Layer
from tests.analysis.traces import causal, random_trace

PAIR = (1, 2, 5, 3)  # layer, head, query, key


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
def test_product_and_scaling_give_the_score_and_softmax_the_attention(model: str) -> None:
    trace = trace_text(load(model), "Oh, this book? I've enjoyed it.")
    link = find_link(trace)
    assert link is not None
    layer, head = link.layer, link.head
    steps = attention_steps(trace, layer, head, link.query, link.key)
    assert steps.product == pytest.approx(
        float((steps.query * steps.key).sum(dtype=np.float64)), rel=1e-9
    )
    assert steps.usual_scaling
    assert steps.plain
    scores = trace.scores(layer, head)[link.query].astype(np.float64)
    assert steps.product * steps.scaling == pytest.approx(scores[link.key], abs=1e-3)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    for key, score, share in steps.rows:
        assert score == pytest.approx(scores[key], abs=1e-3)
        assert share == pytest.approx(shares[key], abs=1e-5)
    assert link.key in [key for key, _, _ in steps.rows]
    total = sum(share for _, _, share in steps.rows) + steps.rest
    assert total == pytest.approx(1, abs=1e-5)
    assert len(steps.rows) + steps.rest_count == np.isfinite(scores).sum()
    assert steps.sink == 0


def test_the_pairs_key_is_shown_even_if_others_get_more() -> None:
    trace = random_trace(3)
    row = trace.attention(1, 2)[5]
    lowest = int(row.argmin())
    steps = attention_steps(trace, 1, 2, 5, lowest)
    keys = [key for key, _, _ in steps.rows]
    assert len(keys) == SHOWN_KEYS
    assert keys[-1] == lowest
    assert keys[:-1] == np.argsort(-row)[: SHOWN_KEYS - 1].tolist()


def test_keys_that_a_causal_query_cannot_see_are_not_counted() -> None:
    steps = attention_steps(causal(random_trace(3)), 1, 2, 2, 1)
    assert sorted(key for key, _, _ in steps.rows) == [0, 1, 2]
    assert steps.rest_count == 0


def test_what_a_model_adds_to_the_scaled_product_is_noticed() -> None:
    trace = random_trace(3)
    bias = np.full((12, 12), 1.5, np.float32)
    biased = replace(trace, layers=(Layer(trace.layers[0].scaling, bias),) * 3)
    steps = attention_steps(biased, *PAIR)
    assert not steps.plain
    assert steps.score == pytest.approx(steps.product * steps.scaling + 1.5, abs=1e-4)
    doubled = replace(trace, layers=(Layer(1.0, None),) * 3)
    assert not attention_steps(doubled, *PAIR).usual_scaling


def test_a_learned_sink_takes_its_share() -> None:
    trace = random_trace(3)
    sink = np.zeros(4, np.float32)
    rule = replace(trace.layers[0], sink=sink)
    steps = attention_steps(replace(trace, layers=(rule,) * 3), *PAIR)
    shown = sum(share for _, _, share in steps.rows)
    assert shown + steps.rest + steps.sink == pytest.approx(1, abs=1e-6)
    assert steps.sink > 0
