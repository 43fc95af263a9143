"""Intervals cover as often as they say, of values like effects and of effects themselves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from core.analysis.arrays import Floats
from core.analysis.statistics import false_discovery, gamma_p, interval_of_mean
from core.corpus.sample import sample_sentences
from core.model import effects, load

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

TEXTS, TRIALS = 48, 2000
# Like sizes of effects on texts, of which the logarithms are used.
LIKE_EFFECTS: dict[str, Draw] = {
    "skewed": lambda drawn, shape: np.log(drawn.gamma(0.4, size=shape)),
    "heavy-tailed": lambda drawn, shape: np.log(np.abs(drawn.standard_t(3, shape))),
    "bounded": lambda drawn, shape: np.log(drawn.beta(0.5, 20, shape)),
    "with outliers": lambda drawn, shape: (
        drawn.standard_normal(shape) + np.where(drawn.random(shape) < 0.05, np.log(30), 0)
    ),
    "sizes themselves": lambda drawn, shape: drawn.beta(1, 30, shape),
}


def _coverage(values: Floats, truth: Floats | float) -> float:
    low, high = interval_of_mean(values)
    return float(((low <= truth) & (truth <= high)).mean())


@pytest.mark.parametrize("kind", LIKE_EFFECTS)
def test_an_interval_covers_the_mean_19_times_in_20(kind: str) -> None:
    draw, drawn = LIKE_EFFECTS[kind], np.random.default_rng(1)
    truth = float(draw(drawn, (2_000_000,)).mean())
    assert 0.93 <= _coverage(draw(drawn, (TEXTS, TRIALS)), truth) <= 0.97


@pytest.mark.nightly
@pytest.mark.parametrize("measure", ["kl", "logit_difference"])
def test_it_covers_what_replacing_each_head_typically_changes_on_sentences(measure: str) -> None:
    gpt2, drawn = load("bundled/gpt2-novels"), np.random.default_rng(2)
    found = [
        effects(gpt2, text, measure=measure, draws=0).values.ravel()  # type: ignore[arg-type]
        for text in islice(sample_sentences(), 0, None, 2)
    ]
    logs = np.log(np.abs(found))  # (sentence, head)
    covered = [
        _coverage(sizes[drawn.integers(len(sizes), size=(TEXTS, TRIALS))], sizes.mean())
        for sizes in logs.T
    ]
    assert 0.93 <= np.mean(covered) <= 0.97
    error = 3 * np.sqrt(0.05 * 0.95 / TRIALS)  # of one head's share of the trials
    assert 0.93 - error <= min(covered) <= max(covered) <= 0.97 + error


def test_an_interval_moves_with_its_values_and_a_skewed_one_reaches_further_on_that_side() -> None:
    values = np.random.default_rng(3).exponential(size=(TEXTS, 1))
    (low,), (high,) = interval_of_mean(values)
    mean = values.mean()
    assert high - mean > 1.1 * (mean - low)
    np.testing.assert_allclose(interval_of_mean(5 - 2 * values)[:, 0], [5 - 2 * high, 5 - 2 * low])


def test_equal_values_have_no_width_and_few_or_missing_ones_no_interval() -> None:
    same = np.full((8, 2), 3.0)
    np.testing.assert_array_equal(interval_of_mean(same), [[3, 3], [3, 3]])
    assert np.isnan(interval_of_mean(same[:4])).all()
    values = np.column_stack([np.arange(8.0), [*range(7), np.nan]])
    assert np.isfinite(interval_of_mean(values)).all(axis=0).tolist() == [True, False]


@pytest.mark.parametrize("shape", [(1,), (6, 12)])
def test_rates_of_false_discovery_are_those_of_scipy(shape: tuple[int, ...]) -> None:
    p = np.random.default_rng(3).random(shape) ** 2
    p.flat[::4] = p.flat[0]  # ties
    expected = stats.false_discovery_control(p, axis=None).reshape(shape)
    np.testing.assert_allclose(false_discovery(p), expected, rtol=1e-12)
    holed = np.concatenate([[np.nan], p.ravel(), [np.nan]])
    np.testing.assert_allclose(false_discovery(holed)[1:-1], expected.ravel(), rtol=1e-12)
    assert np.isnan(false_discovery(holed)[[0, -1]]).all()


def test_the_chance_of_a_sum_of_squares_is_that_of_scipys_gamma_law() -> None:
    drawn = np.random.default_rng(4)
    draws, values = drawn.gamma(1.5, 2, (20, 50)), np.append(drawn.gamma(1.5, 9, 49), 0.0)
    mean, variance = draws.mean(axis=0), draws.var(axis=0, ddof=1)
    expected = stats.gamma.sf(values, mean**2 / variance, scale=variance / mean)
    np.testing.assert_allclose(gamma_p(values, draws), expected, rtol=1e-12)
