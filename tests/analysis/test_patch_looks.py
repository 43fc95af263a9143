"""Heads worth showing first, on heads planted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.images.colour import looks_of, patch_looks, standing_out
from core.analysis.images.marks import head_marks
from core.analysis.images.odd_patches import odd_patches
from core.analysis.images.points import partners, thumbnails
from core.model.trace import Patches
from tests.analysis.pictures import image_trace, of_hue, picture, with_attention
from tests.analysis.traces import random_trace, random_weights

# OKLCh of the primaries as CSS Color 4 gives them: lightness, chroma, hue in degrees.
PRIMARIES = {
    (1, 0, 0): (0.62796, 0.25768, 29.234),
    (0, 1, 0): (0.86644, 0.29483, 142.495),
    (0, 0, 1): (0.45201, 0.31321, 264.052),
}


@pytest.mark.parametrize(("colour", "known"), PRIMARIES.items())
def test_looks_of_the_primaries_are_the_published_ones(
    colour: tuple[int, int, int], known: tuple[float, float, float]
) -> None:
    looks = looks_of(np.array([colour], dtype=np.float32))
    found = looks.brightness[0], looks.chroma[0], 360 * looks.hue[0]
    np.testing.assert_allclose(found, known, rtol=2e-4)


def test_grey_is_as_bright_as_its_step_and_has_no_saturation() -> None:
    looks = looks_of(np.repeat(np.linspace(0, 1, 11)[:, None], 3, axis=1))
    assert not looks.saturation.any()
    assert (np.diff(looks.brightness) > 0).all()
    np.testing.assert_allclose(looks.brightness[[0, -1]], [0, 1], atol=1e-6)


def test_a_patch_looks_as_its_mean_colour_does() -> None:
    patches = picture(np.array([[[1.0, 0, 0], [0, 0, 1.0]]]))
    trace = image_trace(patches, np.zeros((1, 1, 3, 2)), np.zeros((1, 1, 3, 2)))
    np.testing.assert_allclose(360 * patch_looks(trace).hue, [29.234, 264.052], rtol=1e-3)
    with pytest.raises(ValueError, match="no patches"):
        patch_looks(random_trace(0))


# Ten columns of two hues in turn: the same hue stands far away as well as near.
STRIPES = picture(of_hue(np.tile([0.0, 0.5], (10, 5))))
COUNT = 100


def attention(kind: str) -> np.ndarray:
    """(token, token), CLS first."""
    column = np.arange(COUNT) % 10 % 2
    patches = {
        "uniform": np.ones((COUNT, COUNT)),
        "itself": np.eye(COUNT) * 1e6 + 1,
        "colour": np.where(column[:, None] == column, 1.0, 1e-9),
        "CLS": np.full((COUNT, COUNT), 1e-9),
    }[kind]
    weights = np.ones((COUNT + 1, COUNT + 1))
    weights[1:, 1:] = patches
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_each_planted_head_has_its_mark() -> None:
    kinds = ("uniform", "itself", "colour", "CLS")
    weights = np.stack([attention(kind) for kind in kinds])[None]
    marks = head_marks(with_attention(STRIPES, weights))
    assert marks.cls is not None
    assert marks.itself[0] == pytest.approx([1 / 101, 1, 1 / 51, 0], abs=2e-4)
    assert marks.cls[0] == pytest.approx([1 / 101, 0, 1 / 51, 1], abs=2e-4)
    # As far as patches that are attended to alike go, colour says nothing; of like ones, all.
    assert marks.colour[0] == pytest.approx([0, 0, 1, 0], abs=1e-4)


def test_patches_that_are_alike_because_they_are_near_do_not_count() -> None:
    place = np.stack(np.divmod(np.arange(COUNT), 10))
    near = np.abs(place[:, :, None] - place[:, None, :]).max(axis=0) < 2
    ramp = picture(of_hue(np.tile(np.linspace(0, 0.5, 10), (10, 1))))
    weights = np.full((1, 1, COUNT + 1, COUNT + 1), 1e-6)
    weights[0, 0, 1:, 1:] += near
    weights /= weights.sum(axis=-1, keepdims=True)
    assert head_marks(with_attention(ramp, weights)).colour[0, 0] == pytest.approx(0, abs=1e-3)


def test_an_image_of_one_colour_and_a_model_without_cls() -> None:
    grey = picture(np.full((10, 10, 3), 0.5))
    weights = np.full((1, 1, COUNT, COUNT), 1 / COUNT)
    marks = head_marks(with_attention(grey, weights, specials=()))
    assert marks.cls is None
    assert marks.colour[0, 0] == 0
    assert marks.itself[0, 0] == pytest.approx(1 / COUNT)


def test_the_patch_that_stands_out_is_the_one_of_another_colour() -> None:
    colours = np.full((4, 5, 3), 0.8)
    colours[2, 3] = (0.9, 0.1, 0.1)
    assert standing_out(picture(colours)) == 2 * 5 + 3


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


def noise(size: int) -> Patches:
    pixels = np.random.default_rng(size).integers(0, 256, (2 * size, 3 * size, 3), dtype=np.uint8)
    return Patches(pixels, 2, 3, size, 1, (2 * size, 3 * size))


@pytest.mark.parametrize("size", [8, 14, 16, 24])
def test_small_patches_stay_as_they_are(size: int) -> None:
    patches = noise(size)
    assert thumbnails(patches) is patches


@pytest.mark.parametrize(("size", "side"), [(32, 16), (28, 14), (48, 24), (37, 1)])
def test_a_large_patch_shrinks_to_means_of_its_own_pixels(size: int, side: int) -> None:
    patches, step = noise(size), size // side
    small = thumbnails(patches).pixels
    assert small.shape == (2 * side, 3 * side, 3)
    for row, column in ((0, 0), (side, side), (2 * side - 1, 3 * side - 1)):
        block = patches.pixels[row * step : (row + 1) * step, column * step : (column + 1) * step]
        mean = block.reshape(-1, 3).astype(float).mean(axis=0)
        np.testing.assert_allclose(small[row, column], mean, atol=0.51)


def test_partners_are_the_largest_weight_of_the_row_and_of_the_column() -> None:
    attention = np.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.4, 0.4, 0.2]], dtype=np.float32)
    expected = [[1, 0.7], [0, 0.6], [0, 0.4], [1, 0.6], [0, 0.7], [0, 0.2]]
    np.testing.assert_allclose(partners(attention), expected, rtol=1e-6)
