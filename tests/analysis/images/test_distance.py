from __future__ import annotations

import numpy as np

from core.analysis.images.distance import (
    attention_distance,
    distance_table,
    mean_of_distances,
)
from tests.analysis.images.pictures import image_trace, picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)), size=4)


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
    result = attention_distance(with_attention(PATCHES, weights, ("[CLS]", "[REG1]")))
    for layer in range(2):
        for head in range(3):
            expected = by_loops(weights[layer, head], 2, 3, 4)
            np.testing.assert_allclose(result.pixels[layer, head], expected, rtol=1e-5)


def test_uniform_attention_has_the_uniform_distance() -> None:
    trace = image_trace(PATCHES, np.zeros((1, 1, 7, 2)), np.zeros((1, 1, 7, 2)))
    result = attention_distance(trace)
    # Of 36 pairs on 2 x 3: 14 neighbours, 8 diagonal, 4 two apart, 4 a knight's move, 6 the same.
    expected = 4 * (14 + 8 * 2**0.5 + 4 * 2 + 4 * 5**0.5) / 36
    np.testing.assert_allclose([result.uniform, result.pixels[0, 0]], expected, rtol=1e-6)


def test_a_head_that_gives_patches_nothing_has_no_distance() -> None:
    scores = np.zeros((1, 1, 7, 7))
    scores[..., 0] = 500
    trace = image_trace(PATCHES, scores, np.eye(7)[None, None])
    assert np.isnan(attention_distance(trace).pixels).all()


def test_images_count_alike() -> None:
    traces = [with_attention(PATCHES, random_weights(seed, 2, 2, 7)) for seed in range(3)]
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
