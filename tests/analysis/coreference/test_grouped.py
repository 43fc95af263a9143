"""Intervals of grouped values, against a loop and on made-up data."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.coreference.grouped import RESAMPLES, draw_groups, interval, lower_bounds
from core.analysis.statistics import SEED

VALUES = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])[:, None]
GROUPS = np.array([0, 0, 1, 2, 2, 2, 3])


def test_an_interval_is_that_of_a_bootstrap_of_whole_groups_written_as_a_loop() -> None:
    generator = np.random.default_rng(SEED)
    means = []
    for draw in generator.multinomial(4, np.full(4, 0.25), RESAMPLES):
        drawn = [VALUES[group == GROUPS, 0] for group in range(4) for _ in range(draw[group])]
        means.append(np.concatenate(drawn).mean())
    expected = [4 / 7, *np.percentile(means, [2.5, 97.5])]
    assert interval(VALUES, draw_groups(GROUPS))[:, 0] == pytest.approx(expected)


def test_the_halves_of_a_pair_that_cancel_leave_no_doubt() -> None:
    """Ten pairs of one hit and one miss: the mean of whole pairs cannot change."""
    values, pairs = np.tile([1.0, 0.0], 10)[:, None], draw_groups(np.repeat(np.arange(10), 2))
    assert interval(values, pairs)[:, 0].tolist() == [0.5, 0.5, 0.5]
    assert lower_bounds(values, pairs).tolist() == [0.5]
    _, low, high = interval(values, draw_groups(np.arange(20)))
    assert high - low > 0.3


def test_one_group_has_no_interval_and_proves_nothing() -> None:
    draws = draw_groups(np.zeros(3, np.intp))
    assert np.isnan(interval(np.ones((3, 2)), draws)[1:]).all()
    assert (lower_bounds(np.ones((3, 2)), draws) == -np.inf).all()


def test_bounds_of_many_columns_hold_all_at_once() -> None:
    """Of 100 columns with mean 0, one or more is above 0 in about 5 % of the experiments."""
    generator = np.random.default_rng(1)
    draws = draw_groups(np.arange(80))
    alone = together = 0
    for _ in range(40):
        values = generator.normal(0, 1, (80, 100))
        alone += bool((interval(values, draws)[1] > 0).any())
        together += bool((lower_bounds(values, draws) > 0).any())
    assert alone > 30
    assert together < 8
