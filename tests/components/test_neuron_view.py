"""What the neuron view's component receives, and what it may report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from core.analysis.neuron import NeuronHead, read_head
from core.components.neuron_view import NeuronState, packed, read_state
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens, token
from tests.components.received import received


def head_of(tokens: int, dim: int, mask: np.ndarray | None = None) -> NeuronHead:
    draw = np.random.default_rng(1).normal(size=(3, 1, 1, tokens, dim)).astype(np.float32)
    names = plain_tokens(*(f"t{i}" for i in range(tokens)))
    q, k, v = draw
    trace = Trace("by hand", names, q, k, v, (Layer(0.125, mask),), causal=False)
    return read_head(trace, 0, 0)


def sent(one: NeuronHead, **state: Any) -> bytes:
    tokens = [token(f"t{i}", i, i, segment=int(i > 0)) for i in range(len(one.keys))]
    return packed(one, tuple(tokens), NeuronState(**({"query": 0} | state)))


def test_vectors_arrive_to_the_last_bit_and_the_state_with_them() -> None:
    one = head_of(5, 3)
    view = received(sent(one, query=4, key=2, by_contribution=True, pairs="ba"))
    assert_array_equal(view["q"].reshape(5, 3), one.queries)
    assert_array_equal(view["k"].reshape(5, 3), one.keys)
    assert [view[name] for name in ("query", "pairKey", "byContribution")] == [4, 2, True]
    assert (view["segments"], view["pairs"]) == ([0, 1, 1, 1, 1], "ba")
    assert not {"mask", "allowed"} & view.keys()


@pytest.mark.parametrize(("tokens", "dim", "max_bytes"), [(128, 64, 70_000), (512, 64, 280_000)])
def test_a_head_is_small(tokens: int, dim: int, max_bytes: int) -> None:
    assert len(sent(head_of(tokens, dim))) < max_bytes


def test_a_causal_mask_is_one_word_a_window_a_byte_a_pair_and_any_other_as_it_is() -> None:
    causal = np.triu(np.full((4, 4), -np.inf, dtype=np.float32), 1)
    view = received(sent(head_of(4, 2, causal)))
    assert (view["causal"], "allowed" in view) == (True, False)
    window = causal.copy()
    window[3, 0] = -np.inf
    view = received(sent(head_of(4, 2, window)))
    assert view["causal"] is False
    assert_array_equal(view["allowed"].reshape(4, 4), np.isfinite(window))
    numbers = np.array([[0, -np.inf], [-0.5, 0]], dtype=np.float32)
    assert_array_equal(received(sent(head_of(2, 2, numbers)))["mask"].reshape(2, 2), numbers)


@pytest.mark.parametrize(
    "choice",
    [None, {}, {"query": 1}]
    + [{"query": query, "turn": 1} for query in (9, -1, "1")]
    + [{"query": 1, "turn": "<b>"}],
)
def test_what_a_browser_cannot_have_chosen_is_ignored(choice: dict[str, Any] | None) -> None:
    assert read_state(choice, 5, 5) is None


@pytest.mark.parametrize("odd", ["<b>", 3, None, ["ab"]])
def test_a_choice_is_read_and_odd_parts_of_it_are_left_out(odd: object) -> None:
    choice = {"query": 1, "pairKey": 7, "turn": 3, "folded": True, "pairs": odd}
    assert read_state(choice, 5, 5) == NeuronState(1, None, folded=True, turn=3)
    choice = {"query": None, "pairKey": 4, "turn": 2, "pairs": "ab"}
    assert read_state(choice, 5, 5) == NeuronState(None, 4, pairs="ab", turn=2)
