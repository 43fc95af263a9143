"""Who may see whom, and the attention that follows, against formulas and the models themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from core.analysis.layer_payload import (
    LayerPayload,
    drawn_size,
    permitted_bits,
    vectors_size,
)
from core.analysis.neuron import read_head
from core.analysis.pairs import permitted
from core.model import trace_text
from core.model.trace import Layer, Trace
from tests.analysis.pictures import image_trace, picture, with_attention
from tests.analysis.traces import (
    additive,
    causal_mask,
    made_trace,
    random_weights,
    trace_with_attention,
)
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.neuron import NeuronHead
    from core.model.trace import Trace
    from tests.conftest import ModelOf, OracleOf

numbers_only = pytest.mark.filterwarnings("error")
TEXT = SENTENCES[1]


def trace_of(
    seed: int,
    size: int = 6,
    *,
    key_heads: int = 4,
    mask: Any = None,
    scaling: float = 0.5,
    softcap: float | None = None,
) -> Trace:
    """Two random layers that share one rule."""
    rng = np.random.default_rng(seed)
    queries, keys = (rng.normal(0.3, 1, (2, count, size, 3)) for count in (4, key_heads))
    return made_trace(queries, keys, mask=mask, scaling=scaling, softcap=softcap)


def triangle(size: int) -> NDArray[np.bool_]:
    return np.array([[j <= i for j in range(size)] for i in range(size)])


def test_scores_are_dot_products_scaled_then_capped_then_masked() -> None:
    masks = np.array([[[0, -np.inf], [0, 0]], [[0, 0], [3, 0]]], dtype=np.float32)
    products = np.array([[2.0, 4.0], [6.0, 8.0]])
    plain = Layer(0.5, masks[0]).logits(products.copy())
    assert plain.tolist() == [[1, -np.inf], [3, 4]]
    assert Layer(0.5, masks).logits(products.copy(), 1).tolist() == [[1, 2], [6, 4]]
    capped = Layer(0.5, None, softcap=2.0).logits(products.copy())
    assert capped == pytest.approx(2 * np.tanh(np.array([[0.5, 1.0], [1.5, 2.0]])))


@numbers_only
@pytest.mark.parametrize("size", [1, 7])
def test_only_a_mask_of_minus_infinity_forbids_a_pair(size: int) -> None:
    bias = np.random.default_rng(2).normal(size=(size, size)).astype(np.float32)
    for mask in (None, bias):
        np.testing.assert_array_equal(
            permitted(trace_of(0, size, mask=mask), 1, 2), np.ones((size, size), bool)
        )
    trace = trace_of(0, size, mask=additive(triangle(size)))
    np.testing.assert_array_equal(permitted(trace, 0, 3), triangle(size))


@numbers_only
def test_a_mask_of_its_own_is_read_for_each_head() -> None:
    seen = np.random.default_rng(1).random((4, 6, 6)) < 0.6
    seen |= np.eye(6, dtype=bool)
    trace = trace_of(0, mask=additive(seen))
    for head in range(4):
        np.testing.assert_array_equal(permitted(trace, 1, head), seen[head])


LONG = SENTENCES[1]


def all_weights(head: NeuronHead) -> NDArray[np.float64]:
    return np.stack([head.weights(query) for query in range(len(head.keys))])


@pytest.mark.parametrize("name", ["llama", "gemma2", "mistral"])
def test_softmax_equals_the_models_eager_attention(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    """Left to right with shared keys, capped scores, a window."""
    trace = trace_text(model_of(name), LONG)
    expected = oracle_of(name).attention(LONG)  # (layer, head, token, token)
    for layer, head in np.ndindex(expected.shape[:2]):
        one = read_head(trace, layer, head)
        assert_allclose(all_weights(one), expected[layer, head], atol=1e-5)
        assert_array_equal(permitted(trace, layer, head), expected[layer, head] > 0)
    if name == "llama":
        sharers = [read_head(trace, 0, head).sharers for head in range(4)]
        assert sharers == [range(2), range(2), range(2, 4), range(2, 4)]
        assert_array_equal(read_head(trace, 1, 2).keys, read_head(trace, 1, 3).keys)


def small_trace(mask: NDArray[np.float32] | None, softcap: float | None = None) -> Trace:
    vectors = np.random.default_rng(4).normal(size=(3, 1, 2, 3, 4))
    return made_trace(*vectors, mask=mask, scaling=0.5, softcap=softcap)


def test_what_a_mask_adds_is_added_after_the_soft_cap() -> None:
    mask = np.array([[0, -1, -2]] * 3, dtype=np.float32)
    trace = small_trace(mask, softcap=0.7)
    dot = float(trace.queries[0, 0, 1].astype(float) @ trace.kv_keys[0, 0, 2].astype(float))
    expected = 0.7 * math.tanh(0.5 * dot / 0.7) - 2
    assert read_head(trace, 0, 0).scores(1)[2] == pytest.approx(expected)


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


def test_a_weight_takes_one_dot_product_and_one_sum() -> None:
    draw = np.random.default_rng(1)
    queries, keys = 4 * draw.normal(size=(2, 2, 3, 8, 5))
    trace = replace(
        image_trace(PATCHES, queries, keys, specials=SPECIALS), layers=(Layer(0.4, None),) * 2
    )
    layer = LayerPayload.of(trace, 1)
    assert (layer.scaling, layer.softcap, layer.bias) == (0.4, None, None)
    q, k = queries[1, 2].astype(np.float32), keys[1, 2].astype(np.float32)
    for i in range(8):
        score = [
            0.4 * math.fsum(float(a) * float(b) for a, b in zip(q[i], k[j], strict=True))
            for j in range(8)
        ]
        whole = math.log(math.fsum(math.exp(each) for each in score))
        patches = math.log(math.fsum(math.exp(each) for each in score[2:]))
        # Two floats hold more than one could: the error is that of a double, not 1e-7 of it.
        assert layer.sums is not None
        sums = layer.sums[:, :, 2, i].astype(float).sum(axis=1)
        assert sums.tolist() == pytest.approx([whole, patches], abs=1e-12)


@pytest.mark.parametrize("shape", [(8, 8), (3, 8, 8)])
def test_what_a_model_adds_to_scores_is_kept_for_one_head_or_for_each(
    shape: tuple[int, ...],
) -> None:
    bias = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    trace = with_attention(PATCHES, random_weights(3, 1, 3, 8), SPECIALS)
    plain, biased = trace, replace(trace, layers=(Layer(1.0, bias),))
    layer = LayerPayload.of(biased, 0)
    assert layer.bias is not None
    assert layer.sums is not None
    assert layer.bias.shape == (shape[0] if len(shape) == 3 else 1, 8, 8)
    added = layer.bias[-1, 4].astype(float)
    logits = np.log(trace.attention(0, 2)[4].astype(float)) + added
    total = layer.sums[0, :, 2, 4].astype(float).sum()
    assert total == pytest.approx(np.log(np.exp(logits).sum()), abs=1e-5)
    zero = replace(trace, layers=(Layer(1.0, np.zeros(shape, np.float32)),))
    assert LayerPayload.of(zero, 0).bias is None
    assert vectors_size(biased, 0) == vectors_size(plain, 0) + bias.nbytes
