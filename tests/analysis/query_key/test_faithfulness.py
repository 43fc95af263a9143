"""How faithful a picture is, and what random points reach, against loops and enumeration."""

from __future__ import annotations

from itertools import combinations
from math import dist
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.analysis.projections.joint_embedding import Embedding, biplot
from core.analysis.query_key.distance import distances_between
from core.analysis.query_key.faithfulness import (
    Faithfulness,
    Reading,
    compare_matrix,
    uniform_baseline,
)
from core.analysis.query_key.faithfulness import faithfulness as faithfulness_of
from core.analysis.query_key.target import matrix_target, rows_of

Floats = NDArray[np.float64]
Pairs = NDArray[np.bool_]
SEEDS = st.integers(0, 2**32 - 1)
READINGS: tuple[Reading, ...] = get_args(Reading)
some = settings(deadline=None, max_examples=25)
pytestmark = pytest.mark.filterwarnings("error")


def picture_of(seed: int, size: int = 6, dimensions: int = 2) -> Embedding:
    rng = np.random.default_rng(seed)
    queries, keys = rng.normal(size=(2, size, dimensions))
    return Embedding(queries, keys)


def mask_of(seed: int, size: int, kind: str) -> Pairs:
    if kind == "causal":
        return np.tri(size, dtype=bool)
    return np.random.default_rng(seed).random((size, size)) < {"all": 1.0, "some": 0.6}[kind]


def faithfulness(
    scores: Floats, allowed: Pairs, picture: Embedding, reading: Reading = "distance"
) -> Faithfulness:
    return faithfulness_of(matrix_target(scores, allowed), picture, reading)


def counted(allowed: Pairs) -> Pairs:
    """Permitted pairs of queries that have a choice."""
    return allowed & (allowed.sum(axis=1, keepdims=True) > 1)


def less_row_means(values: Floats, allowed: Pairs) -> Floats:
    """Of each row that has a choice its permitted values less their mean, one after another."""
    rows = [values[i][allowed[i]] for i in range(len(values)) if allowed[i].sum() > 1]
    return np.concatenate([row - row.mean() for row in rows] or [np.zeros(0)])


def near_by_hand(picture: Embedding, i: int, j: int, reading: Reading) -> float:
    query, key = picture.queries[i].tolist(), picture.keys[j].tolist()
    if reading == "distance":
        return -dist(query, key)
    return float(sum(a * b for a, b in zip(query, key, strict=True)))


def share_by_hand(logits: Floats, near: Floats, allowed: Pairs, k: int) -> float:
    """Sorts the keys of one query after another; of equals the earlier comes first."""
    shares = []
    for i in range(len(logits)):
        keys = [j for j in range(len(logits)) if allowed[i, j]]
        if len(keys) < 2:
            continue
        strongest = set(sorted(keys, key=lambda j: (-logits[i, j], j))[:k])
        nearest = set(sorted(keys, key=lambda j: (-near[i, j], j))[:k])
        shares.append(len(strongest & nearest) / len(strongest))
    return sum(shares) / len(shares) if shares else float("nan")


@some
@given(
    SEEDS,
    st.integers(2, 8),
    st.sampled_from(READINGS),
    st.sampled_from(("all", "causal", "some")),
)
def test_faithfulness_is_what_a_loop_over_queries_finds(
    seed: int, size: int, reading: Reading, kind: str
) -> None:
    picture, allowed = picture_of(seed, size), mask_of(seed, size, kind)
    logits = np.random.default_rng(seed + 1).normal(size=(size, size))
    result = faithfulness(logits, allowed, picture, reading)
    near = np.array(
        [[near_by_hand(picture, i, j, reading) for j in range(size)] for i in range(size)]
    )
    assert result.top1 == pytest.approx(share_by_hand(logits, near, allowed, 1), nan_ok=True)
    assert result.top3 == pytest.approx(share_by_hand(logits, near, allowed, 3), nan_ok=True)
    assert result.pairs == counted(allowed).sum()
    if result.pairs:
        sign = -1 if reading == "distance" else 1
        expected = np.corrcoef(
            less_row_means(sign * near, allowed), less_row_means(logits, allowed)
        )[0, 1]
        assert result.correlation == pytest.approx(expected, abs=1e-9)
    else:
        assert np.isnan(result.correlation)


@some
@given(SEEDS, st.integers(1, 7), st.sampled_from(("all", "causal", "some")))
def test_shares_count_ties_by_the_earlier_key(seed: int, size: int, kind: str) -> None:
    """Small whole numbers: most values are tied."""
    logits, near = np.random.default_rng(seed).integers(0, 3, (2, size, size)).astype(float)
    allowed = mask_of(seed, size, kind)
    result = compare_matrix(matrix_target(logits, allowed), near, sign=1)
    for k, share in ((1, result.top1), (3, result.top3)):
        assert share == pytest.approx(share_by_hand(logits, near, allowed, k), nan_ok=True)


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
    assert result.per_text == pytest.approx(result.correlation)  # it is one text


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


@pytest.mark.parametrize("kind", ["all", "causal"])
def test_an_exact_picture_keeps_everything_and_a_reversed_one_nothing(kind: str) -> None:
    allowed, truth = mask_of(1, 6, kind), picture_of(1)
    logits = truth.queries @ truth.keys.T * 0.7
    drawn = biplot(truth.queries, truth.keys)  # exact in two dimensions, but for a row's constant
    centred = logits - logits.mean(axis=1, keepdims=True)
    for scores in (logits, centred):
        exact = faithfulness(scores, allowed, drawn, "inner product")
        assert exact[1:3] == (1, 1)
    assert exact.correlation == pytest.approx(1)
    scores = -0.7 * distances_between(truth.queries, truth.keys)
    assert faithfulness(scores, allowed, truth)[:3] == pytest.approx((-1, 1, 1))
    reversed_picture = Embedding(-truth.queries, truth.keys)
    measured = faithfulness(logits, np.ones((6, 6), bool), reversed_picture, "inner product")
    assert measured[:3] == pytest.approx((-1, 0, 0))


def expected_share(keys: int, k: int) -> float:
    """The share of the first k of so many keys that a random choice of k meets: all choices."""
    k = min(k, keys)
    choices = list(combinations(range(keys), k))
    return sum(len(set(range(k)).intersection(each)) / k for each in choices) / len(choices)


@some
@given(SEEDS, st.integers(1, 7), st.sampled_from(("all", "causal", "some")))
def test_the_uniform_baseline_is_the_mean_over_all_choices_of_keys(
    seed: int, size: int, kind: str
) -> None:
    allowed = mask_of(seed, size, kind)
    counts = [sum(row) for row in allowed.tolist() if sum(row) > 1]
    if not counts:
        return
    result = uniform_baseline(rows_of(allowed))
    assert result.top1 == pytest.approx(np.mean([expected_share(n, 1) for n in counts]))
    assert result.top3 == pytest.approx(np.mean([expected_share(n, 3) for n in counts]))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("constant", ["picture", "logits", "both"])
def test_identical_tokens_have_no_correlation_but_shares(reading: Reading, constant: str) -> None:
    """Of equals the earlier key comes first, in the logits and in the picture."""
    flat = Embedding(np.full((5, 2), 0.1), np.full((5, 2), 0.7))
    picture = picture_of(4, 5) if constant == "logits" else flat
    logits = np.random.default_rng(4).normal(size=(5, 5))
    if constant != "picture":
        logits = np.full((5, 5), 0.3)
    result = faithfulness(logits, np.ones((5, 5), bool), picture, reading)
    assert np.isnan(result.correlation)
    assert (result.top1, result.top3) == (1, 1) or constant != "both"


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("allowed", [np.zeros((4, 4), bool), np.ones((1, 1), bool)])
def test_where_no_query_has_a_choice_there_are_no_figures(reading: Reading, allowed: Pairs) -> None:
    size = len(allowed)
    measured = faithfulness(np.zeros((size, size)), allowed, picture_of(5, size), reading)
    assert np.isnan(measured[:-1]).all()
    assert measured.pairs == 0
    assert np.isnan(uniform_baseline(rows_of(allowed))).all()
