"""What the neuron view's component receives, read back by the rule that packing.py states."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from core.analysis.neuron import NeuronHead, read_head
from core.components.neuron_view import NeuronState, _read_state, packed
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens


def head_of(tokens: int, dim: int, mask: np.ndarray | None = None) -> NeuronHead:
    draw = np.random.default_rng(1).normal(size=(3, 1, 1, tokens, dim)).astype(np.float32)
    names = plain_tokens(*(f"t{i}" for i in range(tokens)))
    q, k, v = draw
    trace = Trace("by hand", names, q, k, v, (Layer(0.125, mask),), causal=False)
    return read_head(trace, 0, 0)


def unpacked(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:4], "little")
    settings = json.loads(data[4 : 4 + length])
    offset = 4 + length
    for name, (kind, size) in settings.pop("arrays").items():
        array = np.frombuffer(data, np.uint8 if kind == "u1" else np.float32, size, offset)
        offset += -(-array.nbytes // 4) * 4
        settings[name] = array
    return settings


def sent(one: NeuronHead, **state: Any) -> dict[str, Any]:
    labels = [f"t{i}" for i in range(len(one.keys))]
    return unpacked(packed(one, labels, [0] * len(labels), NeuronState(**({"query": 0} | state))))


def test_queries_and_keys_arrive_to_the_last_bit() -> None:
    one = head_of(5, 3)
    found = sent(one, query=4, key=2, by_contribution=True)
    assert_array_equal(found["q"].reshape(5, 3), one.queries)
    assert_array_equal(found["k"].reshape(5, 3), one.keys)
    assert (found["query"], found["pairKey"], found["byContribution"]) == (4, 2, True)
    assert "mask" not in found
    assert "allowed" not in found


@pytest.mark.parametrize(("tokens", "dim", "most"), [(128, 64, 70_000), (512, 64, 280_000)])
def test_a_head_is_small(tokens: int, dim: int, most: int) -> None:
    one = head_of(tokens, dim)
    labels = [f"t{i}" for i in range(tokens)]
    assert len(packed(one, labels, [0] * tokens, NeuronState(0))) < most


def test_a_causal_mask_is_one_word_and_a_window_one_byte_a_pair() -> None:
    causal = np.triu(np.full((4, 4), -np.inf, dtype=np.float32), 1)
    found = sent(head_of(4, 2, causal))
    assert found["causal"]
    assert "allowed" not in found
    window = causal.copy()
    window[3, 0] = -np.inf
    found = sent(head_of(4, 2, window))
    assert not found["causal"]
    assert_array_equal(found["allowed"].reshape(4, 4), np.isfinite(window))


def test_a_mask_with_numbers_of_its_own_arrives_as_it_is() -> None:
    mask = np.array([[0, -np.inf], [-0.5, 0]], dtype=np.float32)
    assert_array_equal(sent(head_of(2, 2, mask))["mask"].reshape(2, 2), mask)


@pytest.mark.parametrize(
    "choice",
    [
        None,
        {},
        {"query": 9, "turn": 1},
        {"query": -1, "turn": 1},
        {"query": "1", "turn": 1},
        {"query": 1},
        {"query": 1, "turn": "<b>"},
    ],
)
def test_what_a_browser_cannot_have_chosen_is_ignored(choice: dict[str, Any] | None) -> None:
    assert _read_state(choice, 5) is None


def test_a_pair_outside_the_text_is_no_pair() -> None:
    found = _read_state({"query": 1, "pairKey": 7, "turn": 3, "folded": True}, 5)
    assert found == NeuronState(1, None, by_contribution=False, folded=True, turn=3)


def test_no_query_is_all_of_them_and_pairs_are_checked() -> None:
    choice = {"query": None, "pairKey": None, "turn": 2, "pairs": "ab"}
    assert _read_state(choice, 5) == NeuronState(None, None, pairs="ab", turn=2)
    for odd in ("<b>", 3, None, ["ab"]):
        found = _read_state({**choice, "pairs": odd}, 5)
        assert found is not None
        assert found.pairs == "all"


def test_sentences_of_the_tokens_travel_for_the_pairs() -> None:
    one = head_of(3, 2)
    state = NeuronState(None, pairs="ba")
    found = unpacked(packed(one, ["a", "b", "c"], [0, 1, 1], state))
    assert (found["segments"], found["pairs"], found["query"]) == ([0, 1, 1], "ba", None)
