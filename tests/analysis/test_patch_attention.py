""""""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.images.distance import (
    attention_distance,
    distance_table,
    mean_of_distances,
)
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch, cls_rollout
from core.analysis.rollout import overall_attention
from core.model.trace import Layer
from tests.analysis.pictures import image_trace, picture, with_attention
from tests.analysis.traces import random_weights, with_values

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
TWO_LAYERS = random_weights(1, 2, 3, 8)
TWO_LAYER_TRACE = with_attention(PATCHES, TWO_LAYERS, ("[CLS]", "[REG1]"))


def test_a_row_and_a_column_on_the_grid() -> None:
    row, column = attention_of_patch(TWO_LAYER_TRACE, 4), attention_to_patch(TWO_LAYER_TRACE, 4)
    for layer in range(2):
        for head in range(3):
            weights = TWO_LAYERS[layer, head]
            for patch in range(6):
                place = layer, head, patch // 3, patch % 3
                np.testing.assert_allclose(row[place], weights[4, 2 + patch], atol=1e-6)
                np.testing.assert_allclose(column[place], weights[2 + patch, 4], atol=1e-6)


def test_without_cls_and_registers_rows_are_of_patches_alone() -> None:
    row = attention_of_patch(TWO_LAYER_TRACE, 3, only_patches=True)
    np.testing.assert_allclose(row.sum(axis=(-1, -2)), 1, atol=1e-6)
    column = attention_to_patch(TWO_LAYER_TRACE, 3, only_patches=True)
    weights = TWO_LAYERS[1, 2]
    expected = [weights[i, 3] / weights[i, 2:].sum() for i in range(2, 8)]
    np.testing.assert_allclose(column[1, 2].ravel(), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="none of them"):
        attention_to_patch(TWO_LAYER_TRACE, 0, only_patches=True)


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
                view(TWO_LAYER_TRACE, token)


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


FOUR_PIXELS = picture(np.random.default_rng(0).random((2, 3, 3)), size=4)


def by_loops(weights: np.ndarray, first: int, columns: int, size: int) -> float:
    count, total = weights.shape[0] - first, 0.0
    for i in range(count):
        row = weights[first + i, first:].astype(np.float64)
        for j in range(count):
            down, across = i // columns - j // columns, i % columns - j % columns
            total += row[j] / row.sum() * size * (down**2 + across**2) ** 0.5 / count
    return total


def test_the_distance_is_that_of_loops() -> None:
    weights = random_weights(1, 2, 3, 8)
    result = attention_distance(with_attention(FOUR_PIXELS, weights, ("[CLS]", "[REG1]")))
    for layer in range(2):
        for head in range(3):
            expected = by_loops(weights[layer, head], 2, 3, 4)
            np.testing.assert_allclose(result.pixels[layer, head], expected, rtol=1e-5)


def test_uniform_attention_has_the_uniform_distance() -> None:
    trace = image_trace(FOUR_PIXELS, np.zeros((1, 1, 7, 2)), np.zeros((1, 1, 7, 2)))
    result = attention_distance(trace)
    # Of 36 pairs on 2 x 3: 14 neighbours, 8 diagonal, 4 two apart, 4 a knight's move, 6 the same.
    expected = 4 * (14 + 8 * 2**0.5 + 4 * 2 + 4 * 5**0.5) / 36
    np.testing.assert_allclose([result.uniform, result.pixels[0, 0]], expected, rtol=1e-6)


def test_a_head_that_gives_patches_nothing_has_no_distance() -> None:
    scores = np.zeros((1, 1, 7, 7))
    scores[..., 0] = 500
    trace = image_trace(FOUR_PIXELS, scores, np.eye(7)[None, None])
    assert np.isnan(attention_distance(trace).pixels).all()


def test_images_count_alike() -> None:
    traces = [with_attention(FOUR_PIXELS, random_weights(seed, 2, 2, 7)) for seed in range(3)]
    result = mean_of_distances([attention_distance(trace) for trace in traces])
    expected = sum(by_loops(trace.attention(1, 0), 1, 3, 4) for trace in traces) / 3
    np.testing.assert_allclose(result.pixels[1, 0], expected, rtol=1e-5)
    assert (result.images, result.layer_labels) == (3, (1, 2))


def test_the_table_of_distances_has_a_row_for_every_head() -> None:
    patches = picture(np.random.default_rng(8).random((2, 3, 3)))
    distances = attention_distance(with_attention(patches, random_weights(1, 2, 3, 7)))
    table = distance_table(distances)
    assert list(zip(table["layer"], table["head"], strict=True))[3:] == [(2, 1), (2, 2), (2, 3)]
    np.testing.assert_allclose(table["pixels"][4], distances.pixels[1, 1])
    np.testing.assert_allclose(table["of_uniform"] * distances.uniform, table["pixels"])
