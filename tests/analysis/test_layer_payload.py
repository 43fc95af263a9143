"""What the browser gets of a layer: bytes that are the attention, numbers that are exact."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from core.analysis.layer_payload import (
    LayerPayload,
    drawn_size,
    permitted_bits,
    vectors_size,
)
from core.model.trace import Layer
from tests.analysis.images.pictures import image_trace, picture, with_attention
from tests.analysis.traces import causal_mask, made_trace, random_weights, trace_with_attention

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
