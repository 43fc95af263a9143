from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch
from core.model.trace import Layer
from tests.analysis.images.pictures import image_trace, picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
WEIGHTS = random_weights(1, 2, 3, 8)
TRACE = with_attention(PATCHES, WEIGHTS, ("[CLS]", "[REG1]"))


def test_a_row_and_a_column_on_the_grid() -> None:
    row, column = attention_of_patch(TRACE, 4), attention_to_patch(TRACE, 4)
    for layer in range(2):
        for head in range(3):
            weights = WEIGHTS[layer, head]
            for patch in range(6):
                place = layer, head, patch // 3, patch % 3
                np.testing.assert_allclose(row[place], weights[4, 2 + patch], atol=1e-6)
                np.testing.assert_allclose(column[place], weights[2 + patch, 4], atol=1e-6)


def test_without_cls_and_registers_rows_are_of_patches_alone() -> None:
    row = attention_of_patch(TRACE, 3, only_patches=True)
    np.testing.assert_allclose(row.sum(axis=(-1, -2)), 1, atol=1e-6)
    column = attention_to_patch(TRACE, 3, only_patches=True)
    weights = WEIGHTS[1, 2]
    expected = [weights[i, 3] / weights[i, 2:].sum() for i in range(2, 8)]
    np.testing.assert_allclose(column[1, 2].ravel(), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="none of them"):
        attention_to_patch(TRACE, 0, only_patches=True)


def test_position_biases_scaling_and_shared_keys_count() -> None:
    draw = np.random.default_rng(5)
    queries, keys = draw.normal(size=(2, 1, 4, 7, 3)).astype(np.float32)
    bias = draw.normal(size=(4, 7, 7)).astype(np.float32)
    trace = image_trace(PATCHES, queries, keys[:, :2])
    trace = replace(trace, layers=(Layer(0.5, bias),))
    result = attention_of_patch(trace, 5)
    for head in range(4):
        weights = trace.attention(0, head)[5, 1:]
        np.testing.assert_allclose(result[0, head].ravel(), weights, atol=1e-6)


def test_tokens_that_are_not_there() -> None:
    for view in (attention_of_patch, attention_to_patch):
        for token in (-1, 8):
            with pytest.raises(IndexError, match="tokens 0 to 7"):
                view(TRACE, token)
