from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.analysis.images.cls_rollout import cls_rollout
from core.analysis.rollout import overall_attention
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import random_weights, with_values

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
WEIGHTS = random_weights(1, 3, 2, 8)
TRACE = with_attention(PATCHES, WEIGHTS, ("[CLS]", "[REG1]"))


def test_rollout_is_the_row_of_cls() -> None:
    whole = overall_attention(TRACE, "rollout")
    np.testing.assert_allclose(cls_rollout(TRACE), whole[0], atol=1e-6)


def test_weighted_rollout_follows_what_tokens_contribute() -> None:
    norms = np.random.default_rng(3).uniform(0, 2, (3, 2, 8)).astype(np.float32)
    rows = np.eye(8)
    for layer in range(3):
        parts = np.zeros((8, 8))
        for i, j, head in itertools.product(range(8), range(8), range(2)):
            parts[i, j] += float(WEIGHTS[layer, head, i, j]) * float(norms[layer, head, j])
        rows = (parts / parts.sum(axis=1, keepdims=True) + np.eye(8)) / 2 @ rows
    np.testing.assert_allclose(cls_rollout(TRACE, norms, weighted=True), rows[0], atol=1e-6)


def test_without_w_o_the_length_of_values_stands_in() -> None:
    lengths = [1.0, 2.0, 0.0, 3.0, 0.5, 0.0, 1.0, 4.0]
    norms = np.broadcast_to(np.array(lengths, dtype=np.float32), (3, 2, 8))
    by_values = cls_rollout(with_values(TRACE, lengths), weighted=True)
    np.testing.assert_allclose(by_values, cls_rollout(TRACE, norms, weighted=True), atol=1e-6)


def test_without_cls_there_is_no_row_of_it() -> None:
    with pytest.raises(ValueError, match="no CLS"):
        cls_rollout(with_attention(PATCHES, random_weights(2, 2, 2, 6), ()))
