"""Rank correlation of two measures, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from core.analysis.effect.looks import rank_correlation

LAYERS = np.repeat(np.arange(8), 10)


def test_rho_is_spearmans_within_layers_and_nothing_goes_with_nothing() -> None:
    generator = np.random.default_rng(1)
    first = generator.standard_normal(80).round(1)  # with ties
    second = first + generator.standard_normal(80)
    one_layer = rank_correlation([*first, np.nan, 1.0], [*second, 1.0, np.nan], [3] * 82)
    assert one_layer is not None
    assert one_layer.rho == pytest.approx(spearmanr(first, second).statistic)
    assert (one_layer.heads, one_layer.p) == (80, 0.001)
    tests = [rank_correlation(first, generator.standard_normal(80), LAYERS) for _ in range(200)]
    assert np.mean([each is not None and each.p <= 0.05 for each in tests]) <= 0.1


def test_what_differs_from_layer_to_layer_alone_does_not_go_together() -> None:
    drawn = np.random.default_rng(2).standard_normal((2, 80))
    first, second = drawn + 3 * LAYERS
    found = rank_correlation(first, second, LAYERS)
    assert found is not None
    assert spearmanr(first, second).pvalue < 1e-6
    assert found.p > 0.05
    order = np.random.default_rng(3).permutation(80)
    again = rank_correlation(first[order], second[order], LAYERS[order])
    assert again is not None
    assert again.rho == pytest.approx(found.rho)


def test_a_measure_that_is_the_same_for_all_heads_goes_with_nothing() -> None:
    assert rank_correlation([1.0] * 8, np.arange(8), [0] * 8) is None
    assert rank_correlation([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0] * 3) is None
