"""The effect table, from effects that are made up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from core.analysis.effect import effect_table, expected_by_chance, parts_table


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


def test_a_head_exceeds_the_largest_of_its_random_directions_or_not() -> None:
    table = effect_table(Layers(), Made(VALUES, DRAWS))
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["control"].tolist()[:5] == [0.4, 0.3, 0.2, 0.1, 0.3]
    assert table["exceeds"].tolist() == [True, True, False, False, False, False]
    assert table["others"].tolist()[:5] == pytest.approx([0.25, 0.3, 0.45, 0.2, 0.0])
    assert np.isnan(table["effect"][5])
    assert table.attrs == {
        "measure": "kl",
        "unit": "nats",
        "replace": "mean",
        "least": pytest.approx(0.005),
        "chance": pytest.approx(1 / 3),
    }


def test_what_is_less_than_a_hundredth_of_the_largest_effect_counts_for_nothing() -> None:
    values, draws = np.array([[1.0, 0.009, 0.011]]), np.full((1, 1, 3), 0.001)
    assert effect_table(Layers(), Made(values, draws))["exceeds"].tolist() == [True, False, True]


def test_what_a_head_writes_is_a_share_of_the_mean_head_of_its_layer() -> None:
    written = np.array([[1.0, 2.0, 0.1], [3.0, 1.0, np.nan]])
    patterns = ["previous", "none", "none", "first", "none", "none"]
    table = effect_table(Layers(), Made(VALUES, DRAWS), written, patterns)
    assert table["share"].tolist()[:5] == pytest.approx(
        [1 / 1.0333, 2 / 1.0333, 0.0968, 1.5, 0.5], rel=1e-3
    )
    assert table["inactive"].tolist() == [False, False, True, False, False, False]
    assert table["pattern"].tolist() == patterns


def test_as_many_heads_exceed_as_chance_says_where_heads_are_random_directions() -> None:
    generator = np.random.default_rng(0)
    drawn = generator.standard_normal((5, 100, 20))
    table = effect_table(
        type("All", (), {"layer_labels": tuple(range(1, 101)), "depth": 100})(),
        Made(drawn[0], drawn[1:]),
    )
    assert table["exceeds"].mean() == pytest.approx(expected_by_chance(4), abs=0.03)


def test_what_is_repaired_is_the_direct_effect_less_the_effect() -> None:
    direct, parts = VALUES + 0.25, VALUES * 2
    table = effect_table(Layers(), Made(VALUES, DRAWS), direct=direct, parts=parts)
    assert table["repaired"].tolist()[:5] == pytest.approx([0.25] * 5)
    np.testing.assert_array_equal(table["part"], parts.ravel())


@dataclass(frozen=True)
class Parts:
    heads: np.ndarray
    layers: np.ndarray
    embeddings: float = 1.0
    biases: float = -0.5
    value: float = 4.0
    measure: str = "class"
    unit: str = "logits"


def test_all_parts_are_rows_and_add_up() -> None:
    parts = Parts(np.array([[1.0, 0.5, 0.0], [0.5, 0.0, np.nan]]), np.array([0.5, 1.0]))
    table = parts_table(Layers(), parts)
    assert table["writer"].tolist() == ["head"] * 6 + ["layer"] * 2 + ["embeddings", "biases"]
    assert table["layer"].tolist()[:8] == [2, 2, 2, 5, 5, 5, 2, 5]
    assert table["head"].isna().sum() == 4
    assert table["part"].sum() == parts.value
    assert table["share"].tolist()[0] == 0.25
