"""A weight from queries, keys and the sums of rows is the weight."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.images.exact_layer import exact_layer, exact_size
from core.model.trace import Layer
from tests.analysis.images.pictures import image_trace, picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
SPECIALS = ("[CLS]", "[REG1]")


def test_a_weight_takes_one_dot_product_and_one_sum() -> None:
    draw = np.random.default_rng(1)
    queries, keys = 4 * draw.normal(size=(2, 2, 3, 8, 5))
    trace = replace(
        image_trace(PATCHES, queries, keys, specials=SPECIALS), layers=(Layer(0.4, None),) * 2
    )
    layer = exact_layer(trace, 1)
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
        assert layer.sums.whole[:, 2, i].astype(float).sum() == pytest.approx(whole, abs=1e-12)
        assert layer.sums.of_patches[:, 2, i].astype(float).sum() == pytest.approx(
            patches, abs=1e-12
        )


def test_what_patches_keep_without_cls_and_registers_is_exact_where_cls_takes_nearly_all() -> None:
    weights = np.full((1, 1, 8, 8), 1e-9)
    weights[..., 0] = 1 - 7e-9
    layer = exact_layer(with_attention(PATCHES, weights, SPECIALS), 0)
    difference = layer.sums.of_patches.astype(float).sum(0) - layer.sums.whole.astype(float).sum(0)
    np.testing.assert_allclose(np.exp(difference), 6e-9, rtol=1e-6)


@pytest.mark.parametrize("shape", [(8, 8), (3, 8, 8)])
def test_what_a_model_adds_to_scores_is_kept_for_one_head_or_for_each(
    shape: tuple[int, ...],
) -> None:
    bias = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    trace = with_attention(PATCHES, random_weights(3, 1, 3, 8), SPECIALS)
    plain, biased = trace, replace(trace, layers=(Layer(1.0, bias),))
    layer = exact_layer(biased, 0)
    assert layer.bias is not None
    assert layer.bias.shape == (shape[0] if len(shape) == 3 else 1, 8, 8)
    added = layer.bias[-1, 4].astype(float)
    logits = np.log(trace.attention(0, 2)[4].astype(float)) + added
    total = layer.sums.whole[:, 2, 4].astype(float).sum()
    assert total == pytest.approx(np.log(np.exp(logits).sum()), abs=1e-5)
    zero = replace(trace, layers=(Layer(1.0, np.zeros(shape, np.float32)),))
    assert exact_layer(zero, 0).bias is None
    assert exact_size(biased) == exact_size(plain) + bias.nbytes


def test_the_size_is_that_of_what_is_sent() -> None:
    trace = with_attention(PATCHES, random_weights(4, 2, 3, 8), SPECIALS)
    layers = [exact_layer(trace, each) for each in range(2)]
    sent = sum(
        array.nbytes
        for layer in layers
        for array in (layer.queries, layer.keys, layer.sums.whole, layer.sums.of_patches)
    )
    assert exact_size(trace) == sent


def test_a_text_has_no_patches() -> None:
    trace = replace(with_attention(PATCHES, random_weights(5, 1, 1, 8), SPECIALS), patches=None)
    with pytest.raises(ValueError, match="no patches"):
        exact_layer(trace, 0)
