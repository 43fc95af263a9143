"""Who may see whom, and the attention that follows, against formulas and the models themselves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from time import sleep
from weakref import ref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from core.analysis.layer_payload import LayerPayload, drawn_size, permitted_bits, vectors_size
from core.analysis.neuron import read_head
from core.analysis.pairs import permitted
from core.model import trace_text
from core.model.trace import Layer, Trace, kept
from tests.analysis.pictures import image_trace, picture
from tests.analysis.traces import (
    additive,
    causal_mask,
    made_trace,
    random_trace,
    random_weights,
    trace_with_attention,
)
from tests.conftest import ModelOf, OracleOf
from tests.model.families import SENTENCES


def test_scores_are_dot_products_scaled_then_capped_then_masked() -> None:
    masks = np.array([[[0, -np.inf], [0, 0]], [[0, 0], [3, 0]]], dtype=np.float32)
    products = np.array([[2.0, 4.0], [6.0, 8.0]])
    plain = Layer(0.5, masks[0]).logits(products.copy())
    assert plain.tolist() == [[1, -np.inf], [3, 4]]
    assert Layer(0.5, masks).logits(products.copy(), 1).tolist() == [[1, 2], [6, 4]]
    capped = Layer(0.5, masks[1], softcap=2.0).logits(products.copy())
    assert capped == pytest.approx(2 * np.tanh(np.array([[0.5, 1.0], [1.5, 2.0]])) + masks[1])


@pytest.mark.filterwarnings("error")
def test_only_minus_infinity_forbids_a_pair_of_all_heads_or_of_each() -> None:
    draw = np.random.default_rng(1)
    each = (draw.random((4, 6, 6)) < 0.6) | np.eye(6, dtype=bool)
    everything, triangle = np.ones((4, 6, 6), bool), np.tri(6, dtype=bool)
    bias = draw.normal(size=(6, 6)).astype(np.float32)
    for mask, seen in (
        (None, everything),
        (bias, everything),
        (additive(triangle), [triangle] * 4),
        (additive(each), each),
    ):
        trace = replace(random_trace(0, size=6), layers=(Layer(0.5, mask),) * 3)
        assert_array_equal([permitted(trace, 1, head) for head in range(4)], seen)


@pytest.mark.parametrize("name", ["llama", "gemma2", "mistral"])
def test_softmax_equals_the_models_eager_attention(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    """Left to right with shared keys, capped scores, a window."""
    trace = trace_text(model_of(name), SENTENCES[1])
    expected = oracle_of(name).attention(SENTENCES[1])  # (layer, head, token, token)
    for place in np.ndindex(expected.shape[:2]):
        head = read_head(trace, *place)
        weights = [head.weights(query) for query in range(len(head.keys))]
        assert_allclose(weights, expected[place], atol=1e-5)
        assert_array_equal(permitted(trace, *place), expected[place] > 0)
    if name == "llama":
        sharers = [read_head(trace, 0, head).sharers for head in range(4)]
        assert sharers == [range(2), range(2), range(2, 4), range(2, 4)]
        assert_array_equal(read_head(trace, 1, 2).keys, read_head(trace, 1, 3).keys)


PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
SPECIALS = ("[CLS]", "[REG1]")


def test_scores_with_a_bias_or_a_mask_for_each_head_send_the_weights_themselves() -> None:
    bias = causal_mask(40) + np.linspace(0, 2, 40, dtype=np.float32)
    each_head = np.stack([causal_mask(40), np.zeros((40, 40), dtype=np.float32)])
    vectors = np.random.default_rng(80).normal(size=(3, 1, 2, 40, 4))
    for mask in (bias, each_head):
        trace = made_trace(*vectors, mask=mask, scaling=0.5)
        sent = LayerPayload.drawn(trace, 0)
        assert sent.queries is None
        assert_array_equal(sent.weights, trace.attention(0))  # type: ignore[arg-type]
        assert sent.steps is not None
        assert np.abs(sent.steps - 255 * trace.attention(0)).max() <= 0.5 + 255e-5
        assert drawn_size(trace, 0) == (1 + 4) * 2 * 40**2 + 200


def test_a_bit_a_pair_says_what_is_permitted() -> None:
    bits = permitted_bits(causal_mask(3))
    assert bits is not None
    assert np.unpackbits(bits)[:9].tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 1]
    assert permitted_bits(np.stack([causal_mask(3), causal_mask(3).T])) is None  # in one of them
    assert permitted_bits(None) is None


def test_weighted_attention_is_scaled_to_the_layers_largest() -> None:
    weights = random_weights(3, 1, 2, 6)
    trace = trace_with_attention(weights)
    norms = np.array([[1, 2, 3, 4, 5, 6], [9, 0, 1, 0, 1, 0]], dtype=np.float32)
    sent = LayerPayload.drawn(trace, 0, "transformed", norms[None])
    products = weights[0] * norms[:, None, :]
    assert sent.steps is not None
    assert sent.top == pytest.approx(products.max(), abs=1e-5)
    assert sent.steps.max() == 255
    assert np.abs(sent.steps - 255 * products / products.max()).max() <= 0.5 + 1e-2
    assert_array_equal(sent.factor, norms)  # type: ignore[arg-type]
    nothing = LayerPayload.drawn(trace, 0, "transformed", np.zeros((1, 2, 6), dtype=np.float32))
    assert nothing.top == 1.0
    assert nothing.steps is not None
    assert not nothing.steps.any()


@pytest.mark.parametrize("shape", [None, (8, 8), (3, 8, 8)])
def test_a_weight_takes_one_dot_product_one_sum_and_what_the_model_adds(
    shape: tuple[int, ...] | None,
) -> None:
    """To all heads, or to each of its own."""
    draw = np.random.default_rng(1)
    queries, keys = 4 * draw.normal(size=(2, 2, 3, 8, 5))
    bias = None if shape is None else draw.normal(size=shape).astype(np.float32)
    plain = image_trace(PATCHES, queries, keys, specials=SPECIALS)
    trace = replace(plain, layers=(Layer(0.4, bias),) * 2)
    layer = LayerPayload.of(trace, 1)
    assert (layer.scaling, layer.softcap) == (0.4, None)
    assert layer.sums is not None
    products = trace.queries[1].astype(float) @ trace.keys[1].astype(float).swapaxes(1, 2)
    scores = 0.4 * products + (0 if layer.bias is None else layer.bias.astype(float))
    expected = [logsumexp(each, axis=2) for each in (scores, scores[:, :, 2:])]  # of patches alone
    # Two floats hold more than one could: the error is that of a double, not 1e-7 of it.
    assert_allclose(layer.sums.astype(float).sum(axis=1), expected, rtol=0, atol=1e-12)
    if bias is None:
        assert layer.bias is None
        return
    assert layer.bias is not None
    assert_array_equal(layer.bias, bias.reshape(-1, 8, 8))
    assert LayerPayload.of(replace(plain, layers=(Layer(1.0, 0 * bias),) * 2), 0).bias is None
    assert vectors_size(trace, 0) == vectors_size(plain, 0) + bias.nbytes


def test_what_is_kept_goes_with_its_trace() -> None:
    asked = []

    @kept
    def note(trace: Trace, word: str, *, mark: str = "") -> str:
        asked.append(word + mark)
        sleep(0.1)
        return f"{word}{mark}{trace.shape[0]}"

    trace = trace_with_attention(np.ones((2, 1, 1, 1), dtype=np.float32))
    with ThreadPoolExecutor(4) as visitors:  # who ask at once
        said = [*visitors.map(partial(note, trace), "aaab"), note(trace, "a", mark="!")]
    assert said == ["a2", "a2", "a2", "b2", "a!2"]
    assert sorted(asked) == ["a", "a!", "b"]
    alive = ref(trace)
    del trace
    assert alive() is None
