from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.analysis.images import cls_map, region_share, rollout_map, top_mass
from core.analysis.rollout import rollout
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import random_trace, random_weights, with_values

PATCHES = picture(np.random.default_rng(0).random((2, 3, 3)))
SPECIALS = ("[CLS]", "[REG1]")
WEIGHTS = random_weights(1, 3, 2, 8)
TRACE = with_attention(PATCHES, WEIGHTS, SPECIALS)


def test_a_cls_map_is_the_row_of_cls_on_the_grid() -> None:
    result = cls_map(TRACE)
    assert result.source == "CLS"
    for layer, head in itertools.product(range(3), range(2)):
        for row, column in itertools.product(range(2), range(3)):
            weight = WEIGHTS[layer, head, 0, 2 + 3 * row + column]
            np.testing.assert_allclose(result.values[layer, head, row, column], weight, atol=1e-6)
    np.testing.assert_allclose(result.on_patches, 1 - WEIGHTS[..., 0, :2].sum(axis=-1), atol=1e-6)
    np.testing.assert_allclose(cls_map(TRACE, 1, 0).values, result.values[1, 0])
    np.testing.assert_allclose(cls_map(TRACE, 2).values, result.values[2])
    np.testing.assert_allclose(cls_map(TRACE, head=1).values, result.values[:, 1])


def test_without_cls_it_is_the_mean_over_patches_and_says_so() -> None:
    weights = random_weights(2, 2, 2, 6)
    trace = with_attention(PATCHES, weights, ())
    result = cls_map(trace)
    assert result.source == "mean of patches"
    expected = weights.mean(axis=2).reshape(2, 2, 2, 3)
    np.testing.assert_allclose(result.values, expected, atol=1e-6)
    np.testing.assert_allclose(cls_map(trace, 1, 1).values, expected[1, 1], atol=1e-6)
    rolled = rollout_map(trace)
    assert rolled.source == "mean of patches"
    steps = [np.eye(6) / 2 + layer.mean(axis=0) / 2 for layer in weights.astype(np.float64)]
    whole = (steps[1] @ steps[0]).mean(axis=0).reshape(2, 3)
    np.testing.assert_allclose(rolled.values, whole, atol=1e-6)


def paths(steps: list[np.ndarray]) -> np.ndarray:
    """From CLS down all paths through the layers, last layer first."""
    total = np.zeros(8)
    for a, b, c in itertools.product(range(8), repeat=3):
        way = ((2, 0, a), (1, a, b), (0, b, c))
        total[c] += np.prod([0.5 * steps[layer][i, j] + 0.5 * (i == j) for layer, i, j in way])
    return total[2:].reshape(2, 3)


def test_rollout_is_the_sum_over_all_paths_from_cls() -> None:
    means = [layer.mean(axis=0).astype(np.float64) for layer in WEIGHTS]
    result = rollout_map(TRACE)
    np.testing.assert_allclose(result.values, paths(means), atol=1e-6)
    whole = rollout(np.asarray(mean, dtype=np.float32) for mean in means)
    np.testing.assert_allclose(result.values.ravel(), whole[0, 2:], atol=1e-6)
    np.testing.assert_allclose(result.on_patches, result.values.sum(), atol=1e-6)


def test_weighted_rollout_follows_what_tokens_contribute() -> None:
    norms = np.random.default_rng(3).uniform(0, 2, (3, 2, 8)).astype(np.float32)
    steps = []
    for layer in range(3):
        parts = np.zeros((8, 8))
        for i, j, head in itertools.product(range(8), range(8), range(2)):
            parts[i, j] += float(WEIGHTS[layer, head, i, j]) * float(norms[layer, head, j])
        steps.append(np.array([row / row.sum() for row in parts]))
    result = rollout_map(TRACE, norms, weighted=True)
    np.testing.assert_allclose(result.values, paths(steps), atol=1e-6)


def test_without_w_o_the_length_of_values_stands_in() -> None:
    lengths = [1.0, 2.0, 0.0, 3.0, 0.5, 0.0, 1.0, 4.0]
    norms = np.broadcast_to(np.array(lengths, dtype=np.float32), (3, 2, 8))
    found = rollout_map(with_values(TRACE, lengths), weighted=True).values
    np.testing.assert_allclose(found, rollout_map(TRACE, norms, weighted=True).values, atol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9, 1.0])
def test_no_smaller_set_holds_the_top_mass(share: float) -> None:
    values = np.random.default_rng(4).dirichlet(np.ones(9)).reshape(3, 3)
    chosen = top_mass(values, share)
    assert values[chosen].sum() >= share - 1e-9
    for size in range(chosen.sum()):
        for others in itertools.combinations(values.ravel(), size):
            assert sum(others) < share - 1e-9


def test_top_mass_of_equals_and_of_nothing() -> None:
    assert top_mass(np.full((2, 5), 0.1), 0.6).ravel().tolist() == [True] * 6 + [False] * 4
    assert not top_mass(np.zeros((2, 2))).any()


def test_the_share_on_a_region() -> None:
    values = np.array([[[1.0, 2.0], [3.0, 2.0]], [[0, 0], [0, 0]]])
    region = np.array([[True, False], [True, False]])
    np.testing.assert_allclose(region_share(values, region), [0.5, np.nan])


def test_a_text_has_no_cls_map() -> None:
    for view in (cls_map, rollout_map):
        with pytest.raises(ValueError, match="no patches"):
            view(random_trace(0))
