"""Drawn pictures: colours, shapes and labels are what their makers asked for."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from core.model.bundled.training.drawing import (
    HUES,
    SHAPES,
    TEXTURES,
    Ground,
    Paint,
    Thing,
    compose,
    draw_mosaic,
    random_scene,
)
from core.model.bundled.training.drawing.paint import mix

WHITE = Ground(Paint(0, 0, 1.0), depth=0)


def luma(rgb: np.ndarray) -> np.ndarray:
    return 0.299 * rgb[..., 0] + 0.587 * rgb[..., 1] + 0.114 * rgb[..., 2]


@pytest.mark.parametrize("saturation", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("brightness", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("hue", [0.0, 0.13, 1 / 3, 0.5, 0.71, 0.99])
def test_a_paint_has_its_hue_and_its_luma_whatever_the_other_is(
    hue: float, brightness: float, saturation: float
) -> None:
    rgb = Paint(hue, saturation, brightness).rgb
    assert luma(rgb) == pytest.approx(brightness)
    of_hsv = colorsys.rgb_to_hsv(*rgb)[0]
    assert np.cos(2 * np.pi * (of_hsv - hue)) == pytest.approx(1)


def test_a_paint_is_named_by_the_nearest_hue_and_grey_without_one() -> None:
    assert {name: Paint(hue, 1, 0.5).name for name, hue in HUES.items()} == {
        name: name for name in HUES
    }
    assert Paint(0.97, 1, 0.5).name == "red"
    assert Paint(0.5, 0.1, 0.5).name == "grey"


def test_many_colours_are_mixed_at_once_as_one_by_one() -> None:
    hues, lumas = np.array([0.1, 0.6]), np.array([0.3, 0.8])
    each = [Paint(0.1, 1, 0.3).rgb, Paint(0.6, 1, 0.8).rgb]
    np.testing.assert_allclose(mix(hues, 1.0, lumas), each)


@pytest.mark.parametrize(
    ("shape", "area"),  # of a shape of radius 1, by its formula
    [
        ("circle", np.pi * 0.9**2),
        ("square", 1.6**2),
        ("triangle", 3 * 3**0.5 / 4),
        ("star", 10 * 0.5 * 0.45 * np.sin(np.pi / 5)),
        ("ring", np.pi * (0.95**2 - 0.45**2)),
        ("cross", 2 * 1.9 * 0.6 - 0.6**2),
        ("bar", 2 * 0.6),
    ],
)
@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_shape_covers_its_area_however_it_is_turned(shape: str, area: float, turn: float) -> None:
    thing = Thing(shape, Paint(0, 0, 0.0), 0.5, 0.5, 0.4, turn=turn, depth=0)
    scene = compose(WHITE, (thing,), 200)
    covered = 1 - scene.pixels[..., 0].mean() / 255
    assert covered == pytest.approx(area * 0.4**2, rel=0.02)
    assert (scene.owner == 1).mean() == pytest.approx(area * 0.4**2, rel=0.02)


def test_a_thing_hides_what_lies_behind_it_and_patches_tell_how_much_is_covered() -> None:
    square = {"shape": "square", "radius": 0.25 / 0.8, "depth": 0}  # half the side long
    behind = Thing(paint=Paint(0, 1, 0.3), x=0.5, y=0.5, **square)  # type: ignore[arg-type]
    before = Thing(paint=Paint(1 / 3, 1, 0.5), x=0.75, y=0.5, **square)  # type: ignore[arg-type]
    scene = compose(WHITE, (behind, before), 32)
    assert [scene.owner[16, column] for column in (4, 12, 20, 31)] == [0, 1, 2, 2]
    assert [thing.label for thing in scene.things] == ["red square", "green square"]
    middle = [0, 1, 1, 1]
    np.testing.assert_array_equal(scene.shares(8), [[0] * 4, middle, middle, [0] * 4])
    np.testing.assert_array_equal(scene.pixels[0, 0], [255, 255, 255])


@pytest.mark.parametrize("texture", TEXTURES)
def test_a_texture_changes_brightness_and_leaves_the_hue(texture: str) -> None:
    ground = Ground(Paint(0.4, 1, 0.5), texture=texture, depth=0.1)
    colours = compose(ground, (), 96).pixels.reshape(-1, 3) / 255
    hues = [colorsys.rgb_to_hsv(*rgb)[0] for rgb in np.unique(colours, axis=0)]
    np.testing.assert_allclose(hues, 0.4, atol=0.01)
    lightest, darkest = luma(colours).max(), luma(colours).min()
    step = 0 if texture == "plain" else 0.1
    assert (darkest, lightest) == pytest.approx((0.5 - step, 0.5 + step), abs=0.01)


def test_a_graded_ground_goes_from_one_paint_to_the_other() -> None:
    ground = Ground(Paint(0, 0, 0.0), other=Paint(0, 0, 1.0), depth=0)
    row = compose(ground, (), 101).pixels[50, :, 0]
    np.testing.assert_allclose(row, np.linspace(0, 255, 101), atol=1)


def test_a_seed_draws_the_same_scene_each_time_and_another_one_another() -> None:
    first, again, other = random_scene(5), random_scene(5), random_scene(6)
    np.testing.assert_array_equal(first.pixels, again.pixels)
    assert first.things == again.things
    assert (first.pixels != other.pixels).any()


def test_a_scene_looks_alike_at_any_size() -> None:
    small, large = random_scene(7, 48), random_scene(7, 192)
    assert small.things == large.things
    shrunk = large.pixels.reshape(48, 4, 48, 4, 3).mean(axis=(1, 3))
    assert np.abs(shrunk - small.pixels).mean() < 10


@pytest.mark.nightly
def test_random_scenes_show_every_shape_and_hue_and_their_things_can_be_seen() -> None:
    scenes = [random_scene(seed) for seed in range(150)]
    things = [thing for scene in scenes for thing in scene.things]
    assert {thing.shape for thing in things} == set(SHAPES)
    assert {thing.paint.name for thing in things} == {*HUES, "grey"}
    assert {thing.texture for thing in things} == set(TEXTURES)
    for scene in scenes:
        visible = np.bincount(scene.owner.ravel(), minlength=len(scene.things) + 1)[1:]
        assert (visible > 20).all()  # pixels of 96 x 96
    hues, lumas = (np.array([getattr(t.paint, n) for t in things]) for n in ("hue", "brightness"))
    assert abs(np.corrcoef(np.cos(2 * np.pi * hues), lumas)[0, 1]) < 0.15


def test_neighbours_in_a_mosaic_of_patches_have_nothing_in_common() -> None:
    for seed in range(5):
        tiles = luma(draw_mosaic(seed, 96, 8)[4::8, 4::8] / 255)
        assert abs(np.corrcoef(tiles[:, 1:].ravel(), tiles[:, :-1].ravel())[0, 1]) < 0.3
        assert (draw_mosaic(seed, 96, 8) == draw_mosaic(seed, 96, 8)).all()
