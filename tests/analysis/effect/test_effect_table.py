"""The effect table, from effects that are made up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import chi2

from core.analysis.effect import effect_table, leading_table, parts_table
from core.analysis.effect.table import discovery_rates


@dataclass(frozen=True)
class Made:
    values: np.ndarray
    draws: np.ndarray
    measure: str = "kl"
    unit: str = "nats"
    replace: str = "mean"

    @property
    def control(self) -> np.ndarray:
        return np.abs(self.draws).max(axis=0)


class Layers:
    layer_labels = (2, 5)
    depth = 6


VALUES = np.array([[0.5, -0.4, 0.1], [0.0, 0.2, np.nan]])
DRAWS = np.array([[[0.1, 0.3, -0.2], [0.1, 0.1, np.nan]], [[-0.4, 0.1, 0.1], [0.0, 0.3, np.nan]]])


def test_a_row_has_the_effect_of_a_head_beside_the_largest_of_its_directions() -> None:
    table = effect_table(Layers(), Made(VALUES, DRAWS))
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["control"].tolist()[:5] == [0.4, 0.3, 0.2, 0.1, 0.3]
    assert table["others"].tolist()[:5] == pytest.approx([0.25, 0.3, 0.45, 0.2, 0.0])
    assert np.isnan(table["effect"][5])
    assert table.attrs == {"measure": "kl", "unit": "nats", "replace": "mean"}


def test_rates_are_those_of_benjamini_and_hochberg_over_left_out_directions() -> None:
    """By hand: logs of (effect; directions) are (3; 0, 1), (0; 2, 0), (1; 1, 1) to base e."""
    values = np.exp([[3.0, 0.0, 1.0, np.nan]])
    draws = np.exp([[[0.0, 2.0, 1.0, np.nan]], [[1.0, 0.0, 1.0, np.nan]]])
    # Effects less means: 2.5, -1, 0. Left out: -1, 1; 2, -2; 0, 0. So p = 1/7, 6/7, 5/7.
    p = np.array([1 / 7, 6 / 7, 5 / 7])
    expected = [3 * p[0], max(p), min(3 / 2 * p[2], max(p))]
    assert discovery_rates(values, draws)[0, :3] == pytest.approx(expected)
    assert np.isnan(discovery_rates(values, draws)[0, 3])
    assert np.isnan(discovery_rates(values, draws[:1])).all()
    signs = discovery_rates(-values, draws)[0, :3]
    assert signs == pytest.approx(expected)


def test_heads_that_change_nothing_exceed_nothing() -> None:
    values, draws = np.zeros((2, 8)), np.zeros((8, 2, 8))
    values[0, :2], draws[:, 0, :2] = 1.0, 0.01
    values[1, 0] = 1e-9  # under float32's rounding of the largest, beside directions of nothing
    table = effect_table(Layers(), Made(values, draws))
    assert table["exceeds"].tolist() == [True, True, *[False] * 14]


def test_a_head_matters_by_holm_among_the_five_of_largest_effect() -> None:
    values = np.array([[5.0, -4.0, 3.0], [2.0, 1.0, 0.1]])
    draws = np.full((99, 2, 3), -0.1)
    draws[0, 0, 0] = 6.0  # one as large, so p = 0.02 > 0.05 / 4
    draws[:, 0, 1] = -3.9
    draws[:, 1, 1] = 2.0
    table = leading_table(Layers(), Made(values, draws))
    assert (10 * table["layer"].to_numpy() + table["head"].to_numpy()).tolist() == [
        21,
        22,
        23,
        51,
        52,
    ]
    assert table["p"].tolist() == pytest.approx([0.02, 0.01, 0.01, 0.01, 1.0])
    assert table["matters"].tolist() == [True, True, True, True, False]
    assert [table[name][1] for name in ("effect", "low", "high")] == [-4.0, 3.9, 3.9]
    assert table.attrs["draws"] == 99
    draws[0, 0, 1:], draws[0, 1, 0] = 6.0, 6.0
    assert not leading_table(Layers(), Made(values, draws))["matters"].any()


def test_an_effect_under_a_hundredth_of_the_largest_is_not_claimed() -> None:
    values, draws = np.array([[1.0, 0.011, 0.009]]), np.full((99, 1, 3), 1e-6)
    draws[:, 0, 0] = 2.0
    table = leading_table(Layers(), Made(values, draws))
    assert table["p"].tolist() == pytest.approx([1.0, 0.01, 0.01])
    assert table["matters"].tolist() == [False, True, False]


def test_of_many_heads_the_largest_must_be_out_of_reach_for_all_of_them() -> None:
    """Of 1 - cosine or KL with 8 degrees of freedom: the largest of 72 is no surprise, yet of 1."""
    generator = np.random.default_rng(0)
    draws = np.full((99, 6, 12), 1e-9)
    draws[:, 0, 0] = generator.chisquare(8, 99)
    values = np.full((6, 12), 1e-9)
    values[0, 0] = chi2.isf(0.002, 8)  # above all 99, and 72 times that chance is 0.14
    assert values[0, 0] > draws.max()
    layers = type("All", (), {"layer_labels": tuple(range(1, 7)), "depth": 6})()
    table = leading_table(layers, Made(values, draws))
    assert table.loc[0, "p"] == 0.01
    assert table.loc[0, "tail"] == pytest.approx(0.14, abs=0.1)
    assert not table.loc[0, "matters"]
    values[0, 0] = chi2.isf(0.0001, 8)
    assert leading_table(layers, Made(values, draws)).loc[0, "matters"]


def test_what_a_head_writes_is_a_share_of_the_mean_head_of_its_layer() -> None:
    written = np.array([[1.0, 2.0, 0.1], [3.0, 1.0, np.nan]])
    patterns = ["previous", "none", "none", "first", "none", "none"]
    table = effect_table(Layers(), Made(VALUES, DRAWS), written, patterns)
    assert table["share"].tolist()[:5] == pytest.approx(
        [1 / 1.0333, 2 / 1.0333, 0.0968, 1.5, 0.5], rel=1e-3
    )
    assert table["inactive"].tolist() == [False, False, True, False, False, False]
    assert table["pattern"].tolist() == patterns


def test_heads_that_are_no_better_than_random_directions_exceed_chance_in_one_map_of_ten() -> None:
    """At most: each is found with a chance of a tenth where nothing is to be found."""
    generator = np.random.default_rng(0)
    maps = 200
    drawn = np.exp(generator.standard_normal((maps, 9, 6, 12)) + 3 * generator.random((6, 12)))
    some = sum(bool((discovery_rates(each[0], each[1:]) <= 0.1).any()) for each in drawn)
    assert some <= 0.1 * maps + 3 * np.sqrt(0.09 * maps)
    moved = drawn[0].copy()
    moved[0, 2, :4] *= 100
    assert np.argwhere(discovery_rates(moved[0], moved[1:]) <= 0.1)[:, 0].tolist() == [2] * 4


def test_what_is_repaired_is_the_direct_effect_less_the_effect() -> None:
    table = effect_table(Layers(), Made(VALUES, DRAWS), direct=VALUES + 0.25)
    assert table["repaired"].tolist()[:5] == pytest.approx([0.25] * 5)


def test_all_parts_are_rows_and_add_up() -> None:
    heads = np.array([[1.0, 0.5, 0.0], [0.5, 0.0, np.nan]])
    table = parts_table(Layers(), heads, np.array([0.5, 1.0]), (1.0, -0.5), 4.0)
    assert table["writer"].tolist() == ["head"] * 6 + ["layer"] * 2 + ["embeddings", "biases"]
    assert table["layer"].tolist()[:8] == [2, 2, 2, 5, 5, 5, 2, 5]
    assert table["head"].isna().sum() == 4
    assert table["part"].sum() == 4
    assert table["share"].tolist()[0] == 0.25
