"""What patches attend to, how far away it is, and what CLS draws from them, by NumPy and SciPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from core.analysis.images.distance import attention_distance, distance_table, mean_of_distances
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch, cls_rollout
from core.analysis.rollout import overall_attention
from core.model.trace import Layer, Trace
from tests.analysis.pictures import image_trace, picture, with_attention
from tests.analysis.traces import random_weights, with_values

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
WEIGHTS = random_weights(1, 3, 2, 8)
TRACE = with_attention(PATCHES, WEIGHTS, ("[CLS]", "[REG1]"))


def test_a_row_and_a_column_on_the_grid_with_and_without_cls_and_registers() -> None:
    row, column = attention_of_patch(TRACE, 4), attention_to_patch(TRACE, 4)
    np.testing.assert_allclose(row, WEIGHTS[:, :, 4, 2:].reshape(3, 2, 2, 3), atol=1e-6)
    np.testing.assert_allclose(column, WEIGHTS[:, :, 2:, 4].reshape(3, 2, 2, 3), atol=1e-6)
    shares = WEIGHTS[:, :, 2:, 2:] / WEIGHTS[:, :, 2:, 2:].sum(axis=-1, keepdims=True)
    row, column = (
        view(TRACE, 4, only_patches=True) for view in (attention_of_patch, attention_to_patch)
    )
    np.testing.assert_allclose(row, shares[:, :, 2].reshape(3, 2, 2, 3), rtol=1e-5)
    np.testing.assert_allclose(column, shares[..., 2].reshape(3, 2, 2, 3), rtol=1e-5)
    with pytest.raises(ValueError, match="none of them"):
        attention_to_patch(TRACE, 0, only_patches=True)
    for view in (attention_of_patch, attention_to_patch):
        for token in (-1, 8):
            with pytest.raises(IndexError, match="tokens 0 to 7"):
                view(TRACE, token)


def test_position_biases_scaling_and_shared_keys_count() -> None:
    draw = np.random.default_rng(5)
    queries, keys = draw.normal(size=(2, 1, 4, 7, 3)).astype(np.float32)
    bias = draw.normal(size=(4, 7, 7)).astype(np.float32)
    trace = replace(image_trace(PATCHES, queries, keys[:, :2]), layers=(Layer(0.5, bias),))
    expected = trace.attention(0)[None, :, 5, 1:].reshape(1, 4, 2, 3)
    np.testing.assert_allclose(attention_of_patch(trace, 5), expected, atol=1e-6)


def test_rollout_is_the_row_of_cls_and_follows_what_tokens_contribute() -> None:
    whole = overall_attention(TRACE, "rollout")
    np.testing.assert_allclose(cls_rollout(TRACE), whole[0], atol=1e-6)
    norms = np.random.default_rng(3).uniform(0, 2, (3, 2, 8)).astype(np.float32)
    rows = np.eye(8)
    for weights, lengths in zip(WEIGHTS.astype(float), norms, strict=True):
        parts = np.einsum("hij,hj->ij", weights, lengths)
        rows = (parts / parts.sum(axis=1, keepdims=True) + np.eye(8)) / 2 @ rows
    np.testing.assert_allclose(cls_rollout(TRACE, norms, weighted=True), rows[0], atol=1e-6)
    with pytest.raises(ValueError, match="no CLS"):
        cls_rollout(with_attention(PATCHES, random_weights(2, 2, 2, 6), ()))


def test_without_w_o_the_length_of_values_stands_in() -> None:
    lengths = [1.0, 2.0, 0.0, 3.0, 0.5, 0.0, 1.0, 4.0]
    norms = np.broadcast_to(np.array(lengths, dtype=np.float32), (3, 2, 8))
    by_values = cls_rollout(with_values(TRACE, lengths), weighted=True)
    np.testing.assert_allclose(by_values, cls_rollout(TRACE, norms, weighted=True), atol=1e-6)


PLACES = np.array(list(np.ndindex(2, 3)))
APART = 4 * cdist(PLACES, PLACES)  # in pixels


def by_hand(trace: Trace, first: int) -> np.ndarray:
    weights = trace.attention()[..., first:, first:].astype(float)
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray((shares * APART).sum(axis=-1).mean(axis=-1))


def test_a_distance_is_the_mean_over_patches_and_images_count_alike() -> None:
    np.testing.assert_allclose(attention_distance(TRACE).pixels, by_hand(TRACE, 2), rtol=1e-5)
    traces = [with_attention(PATCHES, random_weights(seed, 2, 2, 7)) for seed in range(3)]
    result = mean_of_distances([attention_distance(trace) for trace in traces])
    expected = np.mean([by_hand(trace, 1) for trace in traces], axis=0)
    np.testing.assert_allclose(result.pixels, expected, rtol=1e-5)
    table = distance_table(result)
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    np.testing.assert_allclose(table["pixels"], result.pixels.ravel())
    np.testing.assert_allclose(table["of_uniform"], result.pixels.ravel() / APART.mean(), rtol=1e-5)
    assert set(table["images"]) == {3}


def test_uniform_attention_has_the_uniform_distance_and_none_to_patches_no_distance() -> None:
    trace = image_trace(PATCHES, np.zeros((1, 1, 7, 2)), np.zeros((1, 1, 7, 2)))
    result = attention_distance(trace)
    # Of 36 pairs on 2 x 3: 14 neighbours, 8 diagonal, 4 two apart, 4 a knight's move, 6 the same.
    expected = 4 * (14 + 8 * 2**0.5 + 4 * 2 + 4 * 5**0.5) / 36
    np.testing.assert_allclose([result.uniform, result.pixels[0, 0]], expected, rtol=1e-6)
    scores = np.zeros((1, 1, 7, 7))
    scores[..., 0] = 500
    nothing = image_trace(PATCHES, scores, np.eye(7)[None, None])
    assert np.isnan(attention_distance(nothing).pixels).all()
