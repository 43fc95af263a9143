"""Rank correlation of two measures, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from core.analysis.effect.looks import rank_correlation


def test_rho_is_spearmans_and_its_interval_holds_what_is_true() -> None:
    generator = np.random.default_rng(1)
    first = generator.standard_normal(80).round(1)  # with ties
    second = first + generator.standard_normal(80)
    found = rank_correlation([*first, np.nan, 1.0], [*second, 1.0, np.nan])
    assert found is not None
    assert found.rho == pytest.approx(spearmanr(first, second).statistic)
    assert found.heads == 80
    assert found.low < found.rho < found.high
    nothing = rank_correlation(first, generator.standard_normal(80))
    assert nothing is not None
    assert nothing.low < 0 < nothing.high


def test_a_measure_that_is_the_same_for_all_heads_goes_with_nothing() -> None:
    assert rank_correlation([1.0] * 8, np.arange(8)) is None
    assert rank_correlation([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) is None
