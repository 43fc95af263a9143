"""What the neuron view's component receives, and what it may report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from core.analysis.layer_payload import LayerPayload
from core.analysis.neuron import read_head
from core.components.neuron_view import NeuronState, packed, read_state
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens, token
from tests.components.received import received


def trace_of(tokens: int, dim: int, mask: np.ndarray | None = None) -> Trace:
    draw = np.random.default_rng(1).normal(size=(3, 1, 1, tokens, dim)).astype(np.float32)
    names = plain_tokens(*(f"t{i}" for i in range(tokens)))
    q, k, v = draw
    return Trace("by hand", names, q, k, v, (Layer(0.125, mask),), causal=False)


def sent(trace: Trace, **state: Any) -> bytes:
    tokens = [token(f"t{i}", i, i, segment=int(i > 0)) for i in range(len(trace.tokens))]
    head, layer = read_head(trace, 0, 0), LayerPayload.of(trace, 0, 0)
    return packed(head, layer, tuple(tokens), None, NeuronState(**({"query": 0} | state)))


def test_vectors_arrive_to_the_last_bit_and_the_state_with_them() -> None:
    one = trace_of(5, 3)
    view = received(sent(one, query=4, key=2, by_contribution=True, pairs="ba"))
    assert_array_equal(view["queries0"].reshape(5, 3), one.queries[0, 0])
    assert_array_equal(view["keys0"].reshape(5, 3), one.keys[0, 0])
    assert [view[name] for name in ("query", "pairKey", "byContribution")] == [4, 2, True]
    assert (view["sides"]["queries"]["segments"], view["pairs"]) == ([0, 1, 1, 1, 1], "ba")
    assert view["sides"]["keys"] is None
    assert not {"permitted0", "bias0"} & view.keys()
    assert len(sent(trace_of(512, 64))) < 280_000


def test_a_mask_is_a_bit_a_pair_and_what_it_adds_is_sent_as_it_is() -> None:
    causal = np.triu(np.full((4, 4), -np.inf, dtype=np.float32), 1)
    view = received(sent(trace_of(4, 2, causal)))
    assert_array_equal(np.unpackbits(view["permitted0"]).reshape(4, 4), np.isfinite(causal))
    assert "bias0" not in view
    numbers = np.array([[0, -np.inf], [-0.5, 0]], dtype=np.float32)
    view = received(sent(trace_of(2, 2, numbers)))
    assert_array_equal(view["bias0"].reshape(2, 2), numbers)


@pytest.mark.parametrize("odd", ["<b>", 3, None, ["ab"]])
def test_a_choice_is_read_and_odd_parts_of_it_are_left_out(odd: object) -> None:
    choice = {"query": 1, "pairKey": 7, "byContribution": True, "pairs": odd}
    assert read_state(choice, 5, 5) == NeuronState(1, None, by_contribution=True)
    choice = {"query": None, "pairKey": 4, "pairs": "ab"}
    assert read_state(choice, 5, 5) == NeuronState(None, 4, pairs="ab")
    for none in ({}, {"query": 9}, {"query": -1}, {"query": "1"}):
        assert read_state(none, 5, 5) is None
