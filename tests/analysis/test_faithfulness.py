"""How faithful a picture is, and what random points reach, against loops and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.analysis.query_key.faithfulness import (
    compare_matrix,
    matrix_target,
    rows_of,
    uniform_baseline,
)

Floats = NDArray[np.float64]
Pairs = NDArray[np.bool_]
SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=25)
pytestmark = pytest.mark.filterwarnings("error")


def mask_of(seed: int, size: int, kind: str) -> Pairs:
    if kind == "causal":
        return np.tri(size, dtype=bool)
    return np.random.default_rng(seed).random((size, size)) < {"all": 1.0, "some": 0.6}[kind]


def counted(allowed: Pairs) -> Pairs:
    """Permitted pairs of queries that have a choice."""
    return allowed & (allowed.sum(axis=1, keepdims=True) > 1)


def less_row_means(values: Floats, allowed: Pairs) -> Floats:
    """Of each row that has a choice its permitted values less their mean, one after another."""
    rows = [values[i][allowed[i]] for i in range(len(values)) if allowed[i].sum() > 1]
    return np.concatenate([row - row.mean() for row in rows] or [np.zeros(0)])


def share_by_hand(logits: Floats, near: Floats, allowed: Pairs) -> float:
    """Sorts the keys of one query after another; of equals the earlier comes first."""
    shares = []
    for i in range(len(logits)):
        keys = [j for j in range(len(logits)) if allowed[i, j]]
        if len(keys) < 2:
            continue
        strongest, nearest = (
            min(keys, key=lambda j: (-values[i, j], j)) for values in (logits, near)
        )
        shares.append(strongest == nearest)
    return sum(shares) / len(shares) if shares else float("nan")


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.integers(1, 8), st.sampled_from(("all", "causal", "some")), st.booleans())
def test_faithfulness_is_what_a_loop_over_queries_finds(
    seed: int, size: int, kind: str, tied: bool
) -> None:
    """Of small whole numbers most are tied, and some matrices are constant."""
    rng, allowed = np.random.default_rng(seed), mask_of(seed, size, kind)
    shape = (2, size, size)
    logits, apart = rng.integers(0, 3, shape).astype(float) if tied else rng.normal(size=shape)
    result = compare_matrix(matrix_target(logits, allowed), apart)
    assert result.top1 == pytest.approx(share_by_hand(logits, -apart, allowed), nan_ok=True)
    assert result.pairs == counted(allowed).sum()
    sides = less_row_means(apart, allowed), less_row_means(logits, allowed)
    if all(np.ptp(each) > 1e-12 for each in sides if each.size) and result.pairs:
        expected = np.corrcoef(*sides)[0, 1]
        assert result.correlation == pytest.approx(expected, abs=1e-9)
    else:
        assert np.isnan(result.correlation)


@some
@given(SEEDS, st.integers(2, 8), st.sampled_from(("all", "causal", "some")))
def test_neither_hidden_scores_nor_constants_of_a_row_count(
    seed: int, size: int, kind: str
) -> None:
    """Softmax ignores both: a number added to a row of scores, as translated keys add it."""
    rng = np.random.default_rng(seed)
    logits, near, allowed = *rng.normal(size=(2, size, size)), mask_of(seed, size, kind)
    plain = compare_matrix(matrix_target(logits, allowed), near)
    for value in (-np.inf, np.inf, np.nan):
        masked = matrix_target(np.where(allowed, logits, value), allowed)
        np.testing.assert_array_equal(plain, compare_matrix(masked, near))
    moved = matrix_target(logits + 5 * rng.normal(size=(size, 1)), allowed)
    shifted = compare_matrix(moved, near + rng.normal(size=(size, 1)))
    np.testing.assert_allclose(plain, shifted, atol=1e-9)


def jackknife_by_hand(x: Floats, y: Floats) -> tuple[float, float]:
    """Fisher's z, one row left out after another; Student's 97.5 % of 8 degrees is 2.306."""

    def r(rows: list[int]) -> float:
        return float(np.corrcoef(x[rows].ravel(), y[rows].ravel())[0, 1])

    every = list(range(len(x)))
    z = [np.arctanh(r([row for row in every if row != left])) for left in every]
    error = np.sqrt((len(x) - 1) / len(x) * sum((each - np.mean(z)) ** 2 for each in z))
    middle = np.arctanh(r(every))
    return float(np.tanh(middle - 2.306 * error)), float(np.tanh(middle + 2.306 * error))


def test_the_interval_leaves_out_one_query_at_a_time() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(9, 9))
    apart = rng.normal(size=(9, 9)) - 0.5 * scores
    result = compare_matrix(matrix_target(scores, np.ones((9, 9), bool)), apart)
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (apart, scores))
    assert (result.low, result.high) == pytest.approx(jackknife_by_hand(x, y), abs=1e-4)
    assert result.low < result.correlation < result.high


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Scores and distances whose rows differ in strength, correlated by -0.5 within rows."""
    held = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        strength = rng.uniform(0.5, 2, (20, 1))
        scores = strength * rng.normal(size=(20, 20))
        apart = -0.5 * scores + 0.75**0.5 * strength * rng.normal(size=(20, 20))
        result = compare_matrix(matrix_target(scores, np.ones((20, 20), bool)), apart)
        held += result.low < -0.5 < result.high
    assert 0.9 < held / 150 < 0.985


@pytest.mark.parametrize("allowed", [np.zeros((4, 4), bool), np.ones((1, 1), bool)])
def test_where_no_query_has_a_choice_there_are_no_figures(allowed: Pairs) -> None:
    size = len(allowed)
    measured = compare_matrix(matrix_target(np.zeros((size, size)), allowed), np.eye(size))
    assert np.isnan(measured[:-1]).all()
    assert measured.pairs == 0
    assert np.isnan(uniform_baseline(rows_of(allowed)))
