"""Intervals of grouped values, against a loop, and their share of hits on made-up data."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.coreference.grouped import RESAMPLES, SEED, draw_groups, interval, lower_bounds

VALUES = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])[:, None]
GROUPS = np.array([0, 0, 1, 2, 2, 2, 3])


def test_an_interval_is_that_of_a_bootstrap_of_whole_groups_written_as_a_loop() -> None:
    generator = np.random.default_rng(SEED)
    means = []
    for draw in generator.multinomial(4, np.full(4, 0.25), RESAMPLES):
        drawn = [VALUES[group == GROUPS, 0] for group in range(4) for _ in range(draw[group])]
        means.append(np.concatenate(drawn).mean())
    found = interval(VALUES, draw_groups(GROUPS)).of(0)
    assert found.mean == pytest.approx(4 / 7)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])))


def test_halves_that_cancel_leave_no_doubt_while_single_values_would() -> None:
    """Ten pairs of one hit and one miss: the mean of whole pairs cannot move."""
    values = np.tile([1.0, 0.0], 10)[:, None]
    together = interval(values, draw_groups(np.repeat(np.arange(10), 2))).of(0)
    apart = interval(values, draw_groups(np.arange(20))).of(0)
    assert (together.low, together.high) == (0.5, 0.5)
    assert apart.high - apart.low > 0.3


def test_one_group_has_no_interval_and_proves_nothing() -> None:
    draws = draw_groups(np.zeros(3, np.intp))
    values = np.ones((3, 2))
    assert np.isnan(interval(values, draws).low).all()
    assert (lower_bounds(values, draws) == -np.inf).all()


def test_bounds_of_many_columns_hold_all_at_once() -> None:
    """Of 100 columns with mean 0, one or more is above 0 in about 5 % of the experiments."""
    generator = np.random.default_rng(1)
    draws = draw_groups(np.arange(80))
    alone = together = 0
    for _ in range(40):
        values = generator.normal(0, 1, (80, 100))
        alone += bool((interval(values, draws).low > 0).any())
        together += bool((lower_bounds(values, draws) > 0).any())
    assert alone > 30
    assert together < 8


def test_a_column_that_cannot_move_is_its_own_bound() -> None:
    values = np.tile([[1.0], [0.0]], (10, 1))
    assert lower_bounds(values, draw_groups(np.repeat(np.arange(10), 2))).tolist() == [0.5]
