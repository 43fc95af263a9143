from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.follow.permutations import (
    adjusted_p_values,
    moved_grids,
    p_values,
    shuffled,
)


@pytest.mark.parametrize(("rows", "columns", "ways"), [(3, 4, 4 * 12 - 1), (4, 4, 8 * 16 - 1)])
def test_moved_grids_keep_neighbours_around_the_edges(rows: int, columns: int, ways: int) -> None:
    moved = moved_grids(rows, columns, 10_000, seed=0)
    assert len({tuple(way) for way in moved}) == len(moved) == ways
    assert tuple(range(rows * columns)) not in {tuple(way) for way in moved}
    for way in moved:
        grid = way.reshape(rows, columns)
        for r in range(rows):
            for c in range(columns):
                one, two = divmod(grid[r, c], columns), divmod(grid[r, (c + 1) % columns], columns)
                down, across = abs(one[0] - two[0]), abs(one[1] - two[1])
                assert min(down, rows - down) + min(across, columns - across) == 1


def test_draws_are_the_seeds_own() -> None:
    assert moved_grids(5, 5, 7, seed=1).tolist() == moved_grids(5, 5, 7, seed=1).tolist()
    assert moved_grids(5, 5, 7, seed=1).tolist() != moved_grids(5, 5, 7, seed=2).tolist()
    assert all(sorted(order) == list(range(9)) for order in shuffled(9, 5, seed=0))


def test_p_counts_the_permutations_that_reach_the_observed() -> None:
    chance = np.array([[0.1, 0.5, 0.2], [0.3, 0.6, np.nan], [0.3, 0.7, 0.1]])
    found = p_values(np.array([0.3, 0.2, np.nan]), chance)
    np.testing.assert_allclose(found, [3 / 4, 1, np.nan])
    np.testing.assert_allclose(p_values(np.array([0.3, 0.2, 0.5]), chance)[2], 2 / 4)


def test_adjusted_p_by_loops() -> None:
    draw = np.random.default_rng(0)
    chance, observed = draw.normal(size=(50, 6)) * 0.1, draw.normal(size=6) * 0.1
    units = np.vstack([observed, chance])
    units = (units - units.mean(axis=0)) / units.std(axis=0)
    strongest_first = sorted(range(6), key=lambda head: -units[0, head])
    expected, before = {}, 0.0
    for place, head in enumerate(strongest_first):
        rest = strongest_first[place:]
        reached = sum(max(row[each] for each in rest) >= units[0, head] for row in units[1:])
        before = max(before, (1 + reached) / 51)
        expected[head] = before
    found = adjusted_p_values(observed, chance)
    np.testing.assert_allclose(found, [expected[head] for head in range(6)])


def test_one_clear_head_among_many_keeps_the_smallest_p() -> None:
    draw = np.random.default_rng(1)
    chance = draw.normal(size=(199, 144)) * 0.1
    observed = draw.normal(size=144) * 0.1
    observed[17] = 2.0
    found = adjusted_p_values(observed, chance)
    assert found[17] == 1 / 200
    assert np.delete(found, 17).min() > 1 / 200


def test_the_family_is_wrong_as_often_as_its_level() -> None:
    draw = np.random.default_rng(2)
    trials = [draw.normal(size=(100, 30)) for _ in range(400)]
    alarms = sum(adjusted_p_values(each[0], each[1:]).min() <= 0.05 for each in trials)
    assert 6 <= alarms <= 37  # 400 draws at 0.05: within 4 sd of 20


def test_a_permutation_without_an_answer_counts_against_the_head() -> None:
    chance = np.full((99, 2), 0.0)
    chance[:50, 0] = np.nan
    found = adjusted_p_values(np.array([0.5, 0.5]), chance)
    assert found[0] > 0.5
    assert np.isnan(adjusted_p_values(np.array([np.nan, 0.5]), chance)[0])
