from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.analysis.images.odd_patches import odd_patches
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(0).random((3, 4, 3)))
WEIGHTS = random_weights(1, 2, 3, 14)
TRACE = with_attention(PATCHES, WEIGHTS, ("[CLS]", "[REG1]"))


def with_lengths(lengths: np.ndarray) -> np.ndarray:
    """States (layer + 1, token, width) of these lengths in random directions."""
    vectors = np.random.default_rng(2).normal(size=(*lengths.shape, 5))
    vectors *= (lengths / np.linalg.norm(vectors, axis=-1))[..., None]
    return vectors.astype(np.float32)


def lengths() -> np.ndarray:
    drawn = np.random.default_rng(3).uniform(9, 11, (3, 14))
    drawn[:, 0], drawn[:, 1] = 500, 300  # CLS and the register are no patches
    drawn[2, [5, 9]] = 40, 60
    drawn[2, 7] = 0.1  # much shorter is another matter
    drawn[1, 6] = 90  # odd in between only
    return drawn


def test_odd_patches_are_long_beside_the_others_in_the_last_state() -> None:
    result = odd_patches(replace(TRACE, hidden_states=with_lengths(lengths())))
    assert result is not None
    assert np.flatnonzero(result.odd).tolist() == [3, 7]
    assert result.count == 2
    np.testing.assert_allclose(result.norms, lengths(), rtol=1e-5)
    last = lengths()[2, 2:]
    deviation = np.median(np.abs(last - np.median(last)))
    np.testing.assert_allclose(result.z[2], 0.6745 * (last - np.median(last)) / deviation, 1e-3)
    assert result.z[1].argmax() == 4


def test_a_patch_hardly_longer_than_others_that_are_all_alike_is_not_odd() -> None:
    """On an even ground 1.2 times the median is a hundred deviations away; twice it counts."""
    alike = np.random.default_rng(4).normal(10, 0.01, (2, 14))
    alike[-1, [5, 9]] = 12, 20.5
    result = odd_patches(replace(TRACE, hidden_states=with_lengths(alike)))
    assert result is not None
    assert result.z[-1, 3] > 100
    assert np.flatnonzero(result.odd).tolist() == [7]
    np.testing.assert_allclose(result.times[-1, [3, 7]], [1.2, 2.05], atol=0.01)
    assert result.odd_by_layer.sum(axis=1).tolist() == [0, 1]


def test_the_unit_of_length_does_not_matter() -> None:
    for unit in (0.001, 1000):
        result = odd_patches(replace(TRACE, hidden_states=with_lengths(unit * lengths())))
        assert result is not None
        assert np.flatnonzero(result.odd).tolist() == [3, 7]


def test_what_they_cls_and_registers_draw() -> None:
    result = odd_patches(replace(TRACE, hidden_states=with_lengths(lengths())))
    assert result is not None
    for layer in range(2):
        for head in range(3):
            rows = WEIGHTS[layer, head]
            expected = [
                sum(rows[i, 5] + rows[i, 9] for i in range(14)) / 14,
                sum(rows[i, 0] for i in range(14)) / 14,
                sum(rows[i, 1] for i in range(14)) / 14,
            ]
            found = [each[layer, head] for each in (result.to_odd, result.to_cls)]
            found.append(result.to_registers[layer, head])
            np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert result.uniform == 2 / 14


def test_models_without_cls_registers_or_states() -> None:
    assert odd_patches(TRACE) is None
    trace = with_attention(PATCHES, random_weights(4, 1, 1, 12), ())
    states = with_lengths(lengths()[:2, 2:])
    result = odd_patches(replace(trace, hidden_states=states))
    assert result is not None
    assert not result.to_cls.any()
    assert not result.to_registers.any()
    alike = odd_patches(replace(trace, hidden_states=np.ones((2, 12, 5), dtype=np.float32)))
    assert alike is not None
    assert alike.count == 0
