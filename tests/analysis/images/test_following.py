"""Planted heads are found, and nothing else is."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from core.analysis.images import beside_twin, follow_images, follow_table
from core.analysis.images.follow.by_place import MAX_BY_PLACE
from core.analysis.images.follow.following import FEATURES, LOOKS, PLACES, follow_alike
from core.analysis.images.follow.table import (
    LEVEL,
    MIN_CORRELATION,
    attention_masses,
    followed,
    table_of,
)
from core.model.box import BOX, open_box
from core.model.trace import Patches
from tests.analysis.images.pictures import (
    confetti,
    image_trace,
    of_hue,
    picture,
    scene,
    tokens_of,
    with_attention,
    with_scores,
)
from tests.tools.making.drawing import random_scene

if TYPE_CHECKING:
    import pandas as pd

    from core.model.trace import Trace

pytestmark = pytest.mark.slow


def number(table: pd.DataFrame, head: int, column: str) -> float:
    return float(table[column].to_numpy()[head])


def turns(patches: Patches) -> np.ndarray:
    """HSV hue of each patch, as the standard library has it: another space than the analysis's."""
    return np.array([colorsys.rgb_to_hsv(*map(float, colour))[0] for colour in patches.colours])


def luma(patches: Patches) -> np.ndarray:
    return np.asarray(patches.colours @ np.array([0.299, 0.587, 0.114]))


def circle(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(2 * np.pi * angles), np.sin(2 * np.pi * angles)], axis=1)


def planted(patches: Patches, seed: int = 0, noise: float = 0.5) -> Trace:
    """Heads by hand: hue, brightness, same row, nearness, itself, CLS, and a random one.

    Queries and keys of a patch say its hue as a point on a circle, its brightness as points whose
    products fall with the difference, and its place; every head but two also has noise.
    """
    count, draw = patches.count, np.random.default_rng(seed)
    row, column = np.divmod(np.arange(count), patches.columns)
    bright = (luma(patches) - luma(patches).mean()) / luma(patches).std()
    near = np.stack([row - row.mean(), column - column.mean()], axis=1)
    sides = {
        "hue": 3 * circle(turns(patches)),
        "brightness": np.stack([bright, -(bright**2) / 2, np.ones(count)], axis=1),
        "row": 3 * np.eye(patches.rows)[row],
        "near": np.stack([*near.T, -(near**2).sum(axis=1) / 2, np.ones(count)], axis=1) / 2,
        "itself": 4 * np.eye(count),
        "CLS": np.zeros((count, 1)),
        "random": np.zeros((count, 1)),
    }
    dim = count + 8
    queries, keys = draw.normal(size=(2, 1, len(sides), count + 1, dim)) * noise**0.5 / dim**0.25
    queries[..., 0, :] = keys[..., 0, :] = 0
    for head, (name, side) in enumerate(sides.items()):
        width = side.shape[1]
        mirrored = side[:, [0, 2, 1]] if name == "brightness" else side
        mirrored = side[:, [0, 1, 3, 2]] if name == "near" else mirrored
        queries[0, head, 1:, :width] += side
        keys[0, head, 1:, :width] += mirrored
    queries[0, 5, 1:, -1], keys[0, 5, 0, -1] = 10, 1  # all look to CLS
    return image_trace(patches, queries, keys)


EXPECTED = ["hue", "brightness", "position", "position", "itself", "CLS", "none"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_heads_get_their_class(seed: int) -> None:
    for patches in (confetti(seed), scene(seed + 20)):
        table = follow_table(planted(patches, seed))
        assert table["class"].tolist() == EXPECTED
        beyond = table[[f"{feature}_beyond" for feature in FEATURES]].to_numpy()
        best = np.nan_to_num(beyond, nan=-1).argmax(axis=1)
        assert [FEATURES[place] for place in best[:4]] == ["hue", "brightness", "row", "distance"]
        assert table[["layer", "head"]].to_numpy().tolist() == [[1, i] for i in range(1, 8)]


def test_scores_that_are_closeness_itself_correlate_perfectly() -> None:
    patches = picture(of_hue(np.random.default_rng(0).random((6, 6))))
    row, column = np.divmod(np.arange(36), 6)
    far = np.hypot(row[:, None] - row, column[:, None] - column)
    rows = np.random.default_rng(1).normal(size=(36, 1))  # softmax does not see them
    trace = with_scores(patches, [2 * (row[:, None] == row) + rows, 5 - far + rows])
    (result,) = follow_alike([trace], 19)
    np.testing.assert_allclose(result.plain[FEATURES.index("row"), 0, 0], 1, atol=1e-6)
    np.testing.assert_allclose(result.plain[FEATURES.index("distance"), 0, 1], 1, atol=1e-6)


def test_random_heads_follow_nothing() -> None:
    """Per image and family, the smallest adjusted p is below a level as often as the level says."""
    images, alarms = 40, 0
    for seed in range(images):
        draw = np.random.default_rng(seed)
        queries, keys = draw.normal(size=(2, 2, 4, 65, 8))
        table = follow_table(image_trace(scene(seed, 8, 8), queries, keys), permutations=59)
        assert set(table["class"]) == {"none"}
        adjusted = table[[f"{feature}_p_adjusted" for feature in FEATURES]].fillna(1).to_numpy()
        alarms += int(adjusted[:, LOOKS].min() <= LEVEL) + int(adjusted[:, PLACES].min() <= LEVEL)
    # 80 families at 0.05 or less: 12 or more alarms happen once in 1,000 times.
    assert alarms < 12


def smooth(draw: np.random.Generator, size: int, fields: int) -> np.ndarray:
    """Random fields whose neighbours are alike, (patch, field)."""
    noise = draw.normal(size=(fields, size + 4, size + 4))
    for axis in (1, 2):
        noise = np.sum([np.roll(noise, step, axis) for step in range(-2, 3)], axis=0)
    return np.asarray(noise[:, 2:-2, 2:-2].reshape(fields, -1).T)


def test_order_in_space_alone_is_not_taken_for_colour() -> None:
    """Heads that compare smooth things which have nothing to do with the image's looks."""
    images, alarms = 30, 0
    for seed in range(images):
        draw = np.random.default_rng(seed)
        fields = [smooth(draw, 8, 2) for _ in range(4)]
        trace = with_scores(scene(seed + 50, 8, 8), [each @ each.T / 20 for each in fields])
        table = follow_table(trace, permutations=59)
        adjusted = table[["hue_p_adjusted", "brightness_p_adjusted"]].fillna(1).to_numpy()
        alarms += int(adjusted.min() <= LEVEL)
    assert alarms < 7  # of 30 at 0.05: once in 1,000 times


def gradient(size: int = 12) -> Patches:
    hue = np.tile(np.linspace(0, 0.8, size), (size, 1))
    return picture(of_hue(hue))


def test_a_head_that_looks_near_does_not_follow_the_hue_of_a_gradient() -> None:
    patches = gradient()
    table = follow_table(planted(patches))
    assert number(table, 3, "hue") > 0.3  # it does correlate
    assert table["class"][3] == "position"
    # Nor can one know of a hue head, on this image, that it is not one of columns.
    assert table["class"][0] != "hue"


def place_in(size: int) -> tuple[np.ndarray, ...]:
    """Row, column, distance from the middle and angle around it, (row, column) each."""
    row, column = np.mgrid[:size, :size].astype(float)
    down, across = row - (size - 1) / 2, column - (size - 1) / 2
    return row, column, np.hypot(down, across), np.arctan2(down, across)


def by_place_alone(name: str, size: int = 12) -> Patches:
    """Pictures whose colours say where a patch is, and nothing else."""
    row, column, radius, angle = place_in(size)
    hues = np.random.default_rng(5).permutation(9) / 9
    if name == "wheel":
        return picture(of_hue(angle / (2 * np.pi)))
    if name == "ramp":
        return picture(of_hue(np.full((size, size), 0.6), 0.2 + 0.7 * column / (size - 1)))
    groups = {
        "stripes": column // 2,
        "rings": radius // 1.5,
        "blocks": row // 4 * 3 + column // 4,
    }[name]
    # Blocks and rings of a brightness of their own, so that both looks are a matter of place.
    return picture(of_hue(hues[groups.astype(int)], 0.4 + 0.5 * hues[::-1][groups.astype(int)]))


@pytest.mark.parametrize("name", ["stripes", "ramp", "rings", "blocks", "wheel"])
def test_no_head_follows_a_look_where_the_place_tells_it(name: str) -> None:
    """Heads that compare rows, columns, distances from the middle, angles, fields, or the looks."""
    patches, noise = by_place_alone(name), np.random.default_rng(1).normal(size=(144, 144))
    row, column, radius, angle = (each.ravel() for each in place_in(12))
    field = row // 4 * 3 + column // 4
    apart = [np.abs(each[:, None] - each) for each in (row, column, radius, luma(patches))]
    turned = [np.cos(each[:, None] - each) for each in (angle, 2 * np.pi * turns(patches))]
    planted_by = [*(-each / each.std() for each in apart[:3]), -8 * apart[3], *turned]
    scores = [3 * each + noise / 2 for each in (*planted_by, field[:, None] == field)]
    table = follow_table(with_scores(patches, scores), permutations=99)
    assert set(table["class"]) <= {"position", "none"}
    shares = dict(zip(FEATURES, table.attrs["by_place"][0], strict=False))
    refused = {each for each, share in shares.items() if share > MAX_BY_PLACE}
    assert refused >= ({"brightness"} if name == "ramp" else {"hue"})
    assert table[[f"{each}_beyond" for each in refused]].isna().all(axis=None)


def test_photographs_and_drawn_scenes_are_not_taken_for_patterns_of_places() -> None:
    images = [open_box(name) for name, each in BOX.items() if each.group == "photograph"]
    images += [Image.fromarray(random_scene(seed).pixels) for seed in range(10)]
    for image in images:
        pixels = np.asarray(image.convert("RGB").resize((96, 96)))
        colours = pixels.reshape(12, 8, 12, 8, 3).mean(axis=(1, 3)) / 255
        (result,) = follow_alike([with_scores(picture(colours), [np.eye(144)])], permutations=1)
        assert max(result.by_place) <= MAX_BY_PLACE


def textured(seed: int, fine: np.ndarray) -> Patches:
    """Patches of 8 x 8 pixels of random colours, each plain or with stripes of two pixels."""
    draw = np.random.default_rng(seed)
    size = len(fine)
    colours = of_hue(draw.random((size, size)), draw.uniform(0.4, 0.7, (size, size)))
    stripes = np.where(np.arange(8) // 2 % 2 == 0, 0.2, -0.2)[None, :, None]
    cells = colours[:, :, None, None] + fine[:, :, None, None, None] * stripes
    pixels = np.rint(255 * np.broadcast_to(cells, (size, size, 8, 8, 3)).clip(0, 1))
    pixels = pixels.swapaxes(1, 2).reshape(8 * size, 8 * size, 3).astype(np.uint8)
    return Patches(pixels, size, size, 8, 1, pixels.shape[:2])


@pytest.mark.parametrize("seed", [0, 1])
def test_a_head_planted_on_spatial_frequency_is_found_and_no_other(seed: int) -> None:
    fine = np.random.default_rng(seed).random((10, 10)) < 0.5
    patches = textured(seed, fine)
    alike = fine.ravel()[:, None] == fine.ravel()
    noise = np.random.default_rng(seed + 9).normal(size=(100, 100))
    hue = np.cos(2 * np.pi * (turns(patches)[:, None] - turns(patches)))
    heads = [2 * alike + noise, 2 * hue + noise, noise, noise.T]
    table = follow_table(with_scores(patches, heads), permutations=99)
    assert table["class"].tolist() == ["frequency", "hue", "none", "none"]
    assert number(table, 0, "frequency_beyond") > 0.5
    assert abs(number(table, 2, "frequency_beyond")) < 0.1
    # Without any texture no head can be said to follow it, whatever its scores.
    plain = follow_table(with_scores(textured(seed, np.zeros((10, 10))), heads), permutations=9)
    assert plain["frequency_beyond"].isna().all()


def test_the_twin_is_counted_beside_the_heads_at_the_same_thresholds() -> None:
    patches = confetti(11)
    trained = planted(patches, 1)
    twin = planted(patches, 2, noise=400.0)  # nothing of what was planted is left
    table = follow_table(trained, permutations=99, twin=twin)
    counts = beside_twin(table)
    assert counts.index.tolist() == ["hue", "brightness", "frequency", "position"]
    assert counts["heads"].tolist() == [1, 1, 0, 2]
    assert counts["twin"].tolist() == [0, 0, 0, 0]
    assert counts["excess"].tolist() == [1, 1, 0, 2]
    alone = follow_table(twin, permutations=99)
    np.testing.assert_allclose(table["twin_hue_beyond"], alone["hue_beyond"], atol=1e-6)
    np.testing.assert_array_equal(table["twin_row_p_adjusted"], alone["row_p_adjusted"])
    with pytest.raises(ValueError, match="different images"):
        follow_table(trained, permutations=3, twin=planted(confetti(12), 2))


@pytest.mark.parametrize("offset", [(0, 1), (2, 0), (3, 3)])
def test_a_head_of_a_fixed_offset_does_not_follow_colours(offset: tuple[int, int]) -> None:
    row, column = np.divmod(np.arange(144), 12)
    there = (row[:, None] + offset[0] == row) & (column[:, None] + offset[1] == column)
    noise = np.random.default_rng(0).normal(size=(144, 144))
    for patches in (gradient(), scene(3)):
        table = follow_table(with_scores(patches, [6 * there + noise]), permutations=99)
        assert table["class"][0] in {"position", "none"}


def test_a_head_that_draws_all_queries_to_bright_patches_follows_nothing() -> None:
    patches = scene(5)
    drawn = np.tile(4 * luma(patches), (patches.count, 1))
    noise = np.random.default_rng(0).normal(size=drawn.shape) * 0.2
    table = follow_table(with_scores(patches, [drawn + noise]))
    assert table["class"][0] == "none"


def test_grey_images_have_no_hue_and_several_images_leave_them_out() -> None:
    grey = picture(np.repeat(np.random.default_rng(0).random((8, 8, 1)), 3, axis=2))
    trace, coloured = planted(grey), planted(confetti(7, 8, 8))
    single = follow_table(trace, permutations=49)
    assert single[["hue", "hue_beyond", "hue_p", "hue_p_adjusted"]].isna().all(axis=None)
    assert single["class"][1] == "brightness"
    both = follow_images([trace, coloured], permutations=49)
    alone = follow_table(coloured, permutations=49)
    np.testing.assert_allclose(both["hue_beyond"], alone["hue_beyond"])
    assert both.attrs["images"] == 2


def test_several_images_count_by_fishers_mean() -> None:
    traces = [planted(confetti(seed, 8, 8), seed) for seed in (1, 2, 3)]
    together = follow_images(traces, permutations=49)
    each = [follow_table(trace, permutations=49)["brightness_beyond"] for trace in traces]
    expected = np.tanh(sum(np.arctanh(values) for values in each) / 3)
    np.testing.assert_allclose(together["brightness_beyond"], expected)
    assert together["class"].tolist() == EXPECTED


def test_large_grids_are_sampled_and_it_is_said() -> None:
    table = follow_table(planted(confetti(4, 20, 20)), permutations=39)
    assert (table.attrs["patches"], table.attrs["of"]) == ((256,), (400,))
    assert number(table, 0, "hue_beyond") > MIN_CORRELATION
    assert table["class"].tolist()[4:] == EXPECTED[4:]


def test_masses_of_attention_by_loops() -> None:
    patches = picture(np.random.default_rng(0).random((2, 3, 3)))
    weights = np.random.default_rng(1).dirichlet(np.ones(8), (2, 2, 8)).astype(np.float32)
    trace = with_attention(patches, weights, ("[CLS]", "[REG1]"))
    assert [token.text for token in tokens_of(patches, ("[CLS]", "[REG1]"))][2] == "r1c1"
    result = attention_masses(trace)
    for layer in range(2):
        for head in range(2):
            rows = weights[layer, head]
            own = sum(rows[i, i] for i in range(2, 8)) / 6
            found = [each[layer, head] for each in (result.itself, result.cls, result.registers)]
            np.testing.assert_allclose(found, [own, rows[2:, 0].mean(), rows[2:, 1].mean()], 1e-5)


def test_no_image_and_different_models_are_refused() -> None:
    with pytest.raises(ValueError, match="no image"):
        follow_images([])
    one = planted(confetti(0, 6, 6))
    other = with_scores(confetti(0, 6, 6), [np.eye(36)])
    with pytest.raises(ValueError, match="different models"):
        follow_images([one, other], permutations=3)


@pytest.mark.parametrize("twins", [1, 3])
def test_the_twin_must_have_seen_the_same_images(twins: int) -> None:
    seen = [planted(confetti(seed, 6, 6)) for seed in range(3)]
    with pytest.raises(ValueError, match=r"shorter|longer"):
        follow_images(seen[:2], permutations=3, twins=seen[:twins])
    images = [followed(each, permutations=3)[0] for each in seen]
    with pytest.raises(ValueError, match="other images"):
        table_of(images[:2], images[:twins])
