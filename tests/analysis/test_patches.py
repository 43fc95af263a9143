"""How patches look, what they attend to, how far away it is, and which are worth showing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import median_abs_deviation

from core.analysis.images.colour import looks_of, patch_looks, standing_out
from core.analysis.images.distance import attention_distance, distance_table, mean_of_distances
from core.analysis.images.high_norm_patches import high_norm_patches
from core.analysis.images.marks import head_marks
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch, cls_rollout
from core.analysis.images.points import thumbnails
from core.analysis.rollout import overall_attention
from core.model.trace import Layer, Patches, Trace
from tests.analysis.pictures import image_trace, of_hue, picture, with_attention
from tests.analysis.traces import random_trace, random_weights, with_values


def test_looks_of_the_primaries_are_the_published_ones() -> None:
    """OKLCh as CSS Color 4 gives it: lightness, chroma, hue in degrees."""
    looks = looks_of(np.eye(3, dtype=np.float32))
    np.testing.assert_allclose(looks.brightness, [0.62796, 0.86644, 0.45201], rtol=2e-4)
    np.testing.assert_allclose(looks.chroma, [0.25768, 0.29483, 0.31321], rtol=2e-4)
    np.testing.assert_allclose(360 * looks.hue, [29.234, 142.495, 264.052], rtol=2e-4)


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


def test_each_planted_head_has_its_mark() -> None:
    column = np.arange(COUNT) % 10 % 2
    weights = np.ones((4, COUNT + 1, COUNT + 1))  # the first head's are uniform
    weights[1, 1:, 1:] += np.eye(COUNT) * 1e6
    weights[2, 1:, 1:] = np.where(column[:, None] == column, 1.0, 1e-9)
    weights[3, 1:, 1:] = 1e-9  # what remains is for CLS
    weights /= weights.sum(axis=-1, keepdims=True)
    marks = head_marks(with_attention(STRIPES, weights[None]))
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


def with_lengths(trace: Trace, lengths: np.ndarray) -> Trace:
    """With states (layer + 1, token, width) of these lengths in random directions."""
    vectors = np.random.default_rng(2).normal(size=(*lengths.shape, 5))
    vectors *= (lengths / np.linalg.norm(vectors, axis=-1))[..., None]
    return replace(trace, hidden_states=vectors.astype(np.float32))


@pytest.mark.parametrize("unit", [0.001, 1, 1000])
def test_odd_patches_are_long_beside_the_others_in_the_last_state_and_draw(unit: float) -> None:
    lengths = np.random.default_rng(3).uniform(9, 11, (3, 14))
    lengths[:, 0], lengths[:, 1] = 500, 300  # CLS and the register are no patches
    lengths[2, [5, 9]] = 40, 60
    lengths[2, 7] = 0.1  # much shorter is another matter
    lengths[1, 6] = 90  # odd in between only
    result = high_norm_patches(with_lengths(TRACE, unit * lengths))
    assert result is not None
    assert np.flatnonzero(result.is_high).tolist() == [3, 7]
    assert result.count == 2
    np.testing.assert_allclose(result.norms, unit * lengths, rtol=1e-5)
    last = lengths[2, 2:]
    deviation = median_abs_deviation(last, scale="normal")
    np.testing.assert_allclose(result.z[2], (last - np.median(last)) / deviation, 1e-3)
    assert result.z[1].argmax() == 4
    columns = WEIGHTS.mean(axis=2)
    np.testing.assert_allclose(result.to_high, columns[..., 5] + columns[..., 9], rtol=1e-5)
    np.testing.assert_allclose(result.to_cls, columns[..., 0], rtol=1e-5)
    np.testing.assert_allclose(result.to_registers, columns[..., 1], rtol=1e-5)
    assert result.uniform == 2 / 14


def test_a_patch_hardly_longer_than_others_that_are_all_alike_is_not_odd() -> None:
    """On an even ground 1.2 times the median is a hundred deviations away; twice it counts."""
    alike = np.random.default_rng(4).normal(10, 0.01, (2, 14))
    alike[-1, [5, 9]] = 12, 20.5
    result = high_norm_patches(with_lengths(TRACE, alike))
    assert result is not None
    assert result.z[-1, 3] > 100
    assert np.flatnonzero(result.is_high).tolist() == [7]
    np.testing.assert_allclose(result.times[-1, [3, 7]], [1.2, 2.05], atol=0.01)


def test_models_without_cls_registers_or_states() -> None:
    assert high_norm_patches(TRACE) is None
    trace = with_attention(PATCHES, random_weights(4, 1, 1, 12), ())
    alike = high_norm_patches(replace(trace, hidden_states=np.ones((2, 12, 5), dtype=np.float32)))
    assert alike is not None
    assert alike.count == 0
    assert not alike.to_cls.any()
    assert not alike.to_registers.any()


def noise(size: int) -> Patches:
    pixels = np.random.default_rng(size).integers(0, 256, (2 * size, 3 * size, 3), dtype=np.uint8)
    return Patches(pixels, 2, 3, size, 1, (2 * size, 3 * size))


@pytest.mark.parametrize("size", [8, 24])
def test_small_patches_stay_as_they_are(size: int) -> None:
    patches = noise(size)
    assert thumbnails(patches) is patches


@pytest.mark.parametrize(("size", "side"), [(28, 14), (48, 24), (37, 1)])
def test_a_large_patch_shrinks_to_means_of_its_own_pixels(size: int, side: int) -> None:
    patches, step = noise(size), size // side
    small = thumbnails(patches).pixels
    assert small.shape == (2 * side, 3 * side, 3)
    for row, column in ((0, 0), (side, side), (2 * side - 1, 3 * side - 1)):
        block = patches.pixels[row * step : (row + 1) * step, column * step : (column + 1) * step]
        mean = block.reshape(-1, 3).astype(float).mean(axis=0)
        np.testing.assert_allclose(small[row, column], mean, atol=0.51)


SMALL = picture(np.random.default_rng(0).random((2, 3, 3)))
SMALL_WEIGHTS = random_weights(1, 3, 2, 8)
SMALL_TRACE = with_attention(SMALL, SMALL_WEIGHTS, ("[CLS]", "[REG1]"))


def test_a_row_and_a_column_on_the_grid_with_and_without_cls_and_registers() -> None:
    row, column = attention_of_patch(SMALL_TRACE, 4), attention_to_patch(SMALL_TRACE, 4)
    np.testing.assert_allclose(row, SMALL_WEIGHTS[:, :, 4, 2:].reshape(3, 2, 2, 3), atol=1e-6)
    np.testing.assert_allclose(column, SMALL_WEIGHTS[:, :, 2:, 4].reshape(3, 2, 2, 3), atol=1e-6)
    shares = SMALL_WEIGHTS[:, :, 2:, 2:] / SMALL_WEIGHTS[:, :, 2:, 2:].sum(axis=-1, keepdims=True)
    row, column = (
        view(SMALL_TRACE, 4, only_patches=True) for view in (attention_of_patch, attention_to_patch)
    )
    np.testing.assert_allclose(row, shares[:, :, 2].reshape(3, 2, 2, 3), rtol=1e-5)
    np.testing.assert_allclose(column, shares[..., 2].reshape(3, 2, 2, 3), rtol=1e-5)
    with pytest.raises(ValueError, match="none of them"):
        attention_to_patch(SMALL_TRACE, 0, only_patches=True)
    for view in (attention_of_patch, attention_to_patch):
        for token in (-1, 8):
            with pytest.raises(IndexError, match="tokens 0 to 7"):
                view(SMALL_TRACE, token)


def test_position_biases_scaling_and_shared_keys_count() -> None:
    draw = np.random.default_rng(5)
    queries, keys = draw.normal(size=(2, 1, 4, 7, 3)).astype(np.float32)
    bias = draw.normal(size=(4, 7, 7)).astype(np.float32)
    trace = replace(image_trace(SMALL, queries, keys[:, :2]), layers=(Layer(0.5, bias),))
    expected = trace.attention(0)[None, :, 5, 1:].reshape(1, 4, 2, 3)
    np.testing.assert_allclose(attention_of_patch(trace, 5), expected, atol=1e-6)


def test_rollout_is_the_row_of_cls_and_follows_what_tokens_contribute() -> None:
    whole = overall_attention(SMALL_TRACE, "rollout")
    np.testing.assert_allclose(cls_rollout(SMALL_TRACE), whole[0], atol=1e-6)
    norms = np.random.default_rng(3).uniform(0, 2, (3, 2, 8)).astype(np.float32)
    rows = np.eye(8)
    for weights, lengths in zip(SMALL_WEIGHTS.astype(float), norms, strict=True):
        parts = np.einsum("hij,hj->ij", weights, lengths)
        rows = (parts / parts.sum(axis=1, keepdims=True) + np.eye(8)) / 2 @ rows
    np.testing.assert_allclose(cls_rollout(SMALL_TRACE, norms, weighted=True), rows[0], atol=1e-6)
    with pytest.raises(ValueError, match="no CLS"):
        cls_rollout(with_attention(SMALL, random_weights(2, 2, 2, 6), ()))


def test_without_w_o_the_length_of_values_stands_in() -> None:
    lengths = [1.0, 2.0, 0.0, 3.0, 0.5, 0.0, 1.0, 4.0]
    norms = np.broadcast_to(np.array(lengths, dtype=np.float32), (3, 2, 8))
    by_values = cls_rollout(with_values(SMALL_TRACE, lengths), weighted=True)
    np.testing.assert_allclose(by_values, cls_rollout(SMALL_TRACE, norms, weighted=True), atol=1e-6)


PLACES = np.array(list(np.ndindex(2, 3)))
APART = 4 * cdist(PLACES, PLACES)  # in pixels


def by_hand(trace: Trace, first: int) -> np.ndarray:
    weights = trace.attention()[..., first:, first:].astype(float)
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray((shares * APART).sum(axis=-1).mean(axis=-1))


def test_a_distance_is_the_mean_over_patches_and_images_count_alike() -> None:
    np.testing.assert_allclose(
        attention_distance(SMALL_TRACE).pixels, by_hand(SMALL_TRACE, 2), rtol=1e-5
    )
    traces = [with_attention(SMALL, random_weights(seed, 2, 2, 7)) for seed in range(3)]
    result = mean_of_distances([attention_distance(trace) for trace in traces])
    expected = np.mean([by_hand(trace, 1) for trace in traces], axis=0)
    np.testing.assert_allclose(result.pixels, expected, rtol=1e-5)
    table = distance_table(result)
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    np.testing.assert_allclose(table["pixels"], result.pixels.ravel())
    np.testing.assert_allclose(table["of_uniform"], result.pixels.ravel() / APART.mean(), rtol=1e-5)
    assert set(table["images"]) == {3}


def test_uniform_attention_has_the_uniform_distance_and_none_to_patches_no_distance() -> None:
    result = attention_distance(image_trace(SMALL, *np.zeros((2, 1, 1, 7, 2))))
    # Of 36 pairs on 2 x 3: 14 neighbours, 8 diagonal, 4 two apart, 4 a knight's move, 6 the same.
    expected = 4 * (14 + 8 * 2**0.5 + 4 * 2 + 4 * 5**0.5) / 36
    np.testing.assert_allclose([result.uniform, result.pixels[0, 0]], expected, rtol=1e-6)
    scores = np.zeros((1, 1, 7, 7))
    scores[..., 0] = 500
    nothing = image_trace(SMALL, scores, np.eye(7)[None, None])
    assert np.isnan(attention_distance(nothing).pixels).all()
