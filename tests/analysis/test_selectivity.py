"""What heads follow in an image: planted heads are found, and nothing else is."""

from __future__ import annotations

import colorsys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, rankdata

from core.analysis.images.colour import oklab
from core.analysis.images.selectivity import (
    FEATURES,
    LEVEL,
    LOOKS,
    edge_strengths,
    follower_counts,
    selectivity,
    selectivity_table,
)
from core.model.trace import Patches, Trace
from tests.analysis.pictures import confetti, image_trace, of_hue, picture, scene, with_scores


def table_of(trace: Trace, permutations: int = 59) -> pd.DataFrame:
    return selectivity_table(selectivity(trace, permutations))


def planted(patches: Patches, seed: int) -> Trace:
    """Heads by hand, with noise: hue, brightness, nearness, and a random one.

    Looks are HSV's and luma's: of other spaces than the analysis's.
    """
    draw = np.random.default_rng(seed)
    turns = np.array([colorsys.rgb_to_hsv(*map(float, colour))[0] for colour in patches.colours])
    luma = patches.colours @ np.array([0.299, 0.587, 0.114])
    row, column = np.divmod(np.arange(patches.count), patches.columns)
    scores = [
        6 * np.cos(2 * np.pi * (turns[:, None] - turns)),
        -4 * np.abs(luma[:, None] - luma) / luma.std(),
        -np.hypot(row[:, None] - row, column[:, None] - column),
        np.zeros((patches.count,) * 2),
    ]
    noise = draw.normal(size=(4, patches.count, patches.count))
    rows = 5 * draw.normal(size=(4, patches.count, 1))  # softmax does not see them
    return with_scores(patches, list(np.stack(scores) + noise + rows))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_heads_are_found(seed: int) -> None:
    for patches in (confetti(seed), scene(seed + 20)):
        table = table_of(planted(patches, seed), 199)
        assert table["follows"].tolist() == ["hue", "brightness", "place", "none"]
        assert table[["layer", "head"]].to_numpy().tolist() == [[1, i] for i in (1, 2, 3, 4)]
        assert table["edges"].isna().all()  # each patch has one colour


def test_heads_of_edges_are_found() -> None:
    patches = confetti(3)
    strength = np.random.default_rng(1).random(patches.count)
    cells = patches.pixels.copy()
    of_pixels = strength.reshape(10, 10, 1).repeat(4, axis=0).repeat(4, axis=1)
    cells[::2] = np.rint(cells[::2] * (1 - 0.5 * of_pixels[::2]))
    striped = type(patches)(cells, 10, 10, 4, 1, cells.shape[:2])
    found = edge_strengths(striped.cells)
    assert np.corrcoef(found, strength)[0, 1] > 0.8
    scores = -np.abs(found[:, None] - found)
    assert table_of(with_scores(striped, [scores]))["follows"].tolist() == ["edges"]


def test_a_correlation_is_that_of_ranks_beyond_place() -> None:
    """Against SciPy's ranks and least squares, pair by pair."""
    patches, draw = scene(5, 6, 7), np.random.default_rng(0)
    scores = draw.normal(size=(42, 42)) + np.arange(42)[:, None]
    found = selectivity(with_scores(patches, [scores]), 3).observed
    different = ~np.eye(42, dtype=bool)

    def ranks(values: np.ndarray) -> np.ndarray:
        rows = rankdata(values[different].reshape(42, 41), axis=1)
        return np.asarray((rows - rows.mean(axis=1, keepdims=True)).ravel())

    light = oklab(patches.colours)[:, 0]
    row, column = np.divmod(np.arange(42), 7)
    far = np.hypot(row[:, None] - row, column[:, None] - column)
    places = [(row[:, None] == row) * 1.0, (column[:, None] == column) * 1.0, -far]
    controls = np.stack([ranks(each) for each in places], axis=1)
    sides = [ranks(scores), ranks(-np.abs(light[:, None] - light))]
    rest = [each - controls @ np.linalg.lstsq(controls, each, rcond=None)[0] for each in sides]
    expected = np.corrcoef(*rest)[0, 1]
    assert found[FEATURES.index("brightness"), 0, 0] == pytest.approx(expected, abs=1e-3)


def smooth(draw: np.random.Generator, size: int, fields: int) -> np.ndarray:
    """Random fields whose neighbours are alike, (patch, field)."""
    noise = draw.normal(size=(fields, size + 4, size + 4))
    for axis in (1, 2):
        noise = np.sum([np.roll(noise, step, axis) for step in range(-2, 3)], axis=0)
    return np.asarray(noise[:, 2:-2, 2:-2].reshape(fields, -1).T)


@pytest.mark.parametrize("images", [10, pytest.param(40, marks=pytest.mark.nightly)])
def test_random_heads_follow_nothing_more_often_than_the_level(images: int) -> None:
    """Heads of random weights, and those that compare smooth things with nothing to do with looks.

    The second are asked for looks alone: they do follow place.
    """
    alarms = {"random": 0, "smooth": 0}
    for seed in range(images):
        draw = np.random.default_rng(seed)
        table = table_of(image_trace(scene(seed, 8, 8), *draw.normal(size=(2, 2, 4, 65, 8))))
        alarms["random"] += bool(table[[f"{each}_p" for each in FEATURES]].min().min() <= LEVEL)
        fields = [smooth(draw, 8, 2) for _ in range(4)]
        table = table_of(with_scores(scene(seed + 50, 8, 8), [each @ each.T for each in fields]))
        alarms["smooth"] += bool(table[[f"{each}_p" for each in LOOKS]].min().min() <= LEVEL)
    assert max(alarms.values()) <= binom.isf(0.001, images, LEVEL)  # once in 1,000 times


def test_the_twin_stands_beside_and_both_are_counted() -> None:
    parts = [selectivity(planted(confetti(seed), seed), 59) for seed in (0, 1)]
    table, twin = selectivity_table(*parts), selectivity_table(parts[1])
    np.testing.assert_array_equal(table["twin_hue"], twin["hue"])
    np.testing.assert_array_equal(table["twin_follows"], twin["follows"])
    assert table.attrs == {"moves": 59, "patches": 100, "of": 100}
    assert follower_counts(table).to_numpy()[2:].tolist() == [[0, 0], [1, 1]]  # edges, place


def test_a_grey_image_has_no_hue() -> None:
    grey = picture(np.random.default_rng(0).random((10, 10, 1)).repeat(3, axis=2))
    table = table_of(planted(grey, 0))
    assert table["hue"].isna().all()
    assert table["follows"].tolist() == ["none", "brightness", "place", "none"]


def test_a_large_grid_is_sampled() -> None:
    colours = of_hue(np.random.default_rng(0).random((20, 20)))
    part = selectivity(planted(picture(colours), 0), 19)
    assert (part.patches, part.count) == (256, 400)
    assert selectivity_table(part)["follows"].tolist()[0] == "hue"
