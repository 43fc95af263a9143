"""The constants of a head, and how faithful it is, against SciPy and NumPy's masked arrays."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from core.analysis.arrays import Bools
from core.analysis.query_key.correlation import MAX_PAIRS, Distance, Measure, distances_between
from core.analysis.query_key.faithfulness import (
    compare_matrix,
    matrix_target,
    query_rows,
    uniform_baseline,
)
from core.analysis.query_key.scaling import (
    C_VALUES,
    MIN_RELIABLE,
    PUBLISHED_GRID,
    HeadScaling,
    few_pairs,
    scale_head,
    scale_model,
)
from core.model import load, trace_text
from core.model.trace import Layer, Trace
from tests.analysis.test_projections import DEGENERATE
from tests.analysis.traces import additive, clouds, made_trace

DISTANCES: tuple[Distance, ...] = get_args(Distance)
CRITERIA: tuple[Measure, ...] = get_args(Measure)
pytestmark = pytest.mark.filterwarnings("error")


def trace_of(queries: Any, keys: Any, seen: Any = None, layers: int = 1) -> Trace:
    """Queries and keys (head, token, dim), the same in each layer; `seen` is (token, token)."""
    mask = None if seen is None else additive(seen)
    sides = (np.repeat(np.asarray(each)[None], layers, 0) for each in (queries, keys))
    return made_trace(*sides, mask=mask, scaling=0.5)


def random_trace(seed: int, size: int = 8, dim: int = 4, *, causal: bool = False) -> Trace:
    return trace_of(*clouds(seed, 1, size, dim), np.tri(size, dtype=bool) if causal else None)


def counted(allowed: Bools) -> Bools:
    """Permitted pairs of queries that have a choice."""
    return allowed & (allowed.sum(axis=1, keepdims=True) > 1)


def centred(matrix: Any) -> Any:
    """A masked matrix less the means of its rows."""
    return matrix - matrix.mean(axis=1, keepdims=True)


def by_hand(
    trace: Trace, head: int, distance: Distance, c: float = 1.0, *, translated: bool = True
) -> tuple[Any, Any]:
    """Target and distances of vectors really translated and scaled, masked where none counts."""
    queries = trace.queries[0, head].astype(np.float64)
    keys = np.repeat(trace.kv_keys[0], trace.group, axis=0)[head].astype(np.float64)
    rule = trace.layers[0]
    scores = rule.scaling * queries @ keys.T
    if rule.softcap is not None:
        scores = rule.softcap * np.tanh(scores / rule.softcap)
    a = queries.mean(axis=0) - keys.mean(axis=0) if translated else 0
    apart = cdist(queries * c, (keys + a) / c, distance.replace("squared ", "sq"))
    allowed = np.ones(scores.shape, bool) if rule.mask is None else rule.mask == 0
    both = (np.ma.array(each, mask=~counted(allowed)) for each in (scores, apart))
    scores, apart = both
    return centred(scores), apart


def correlation_by_hand(target: Any, apart: Any, criterion: Measure = "pearson") -> float:
    """Weighted by (d* - d)^2 below the 0.5th percentile d*, at least three pairs, or plain."""
    x, d = target.compressed(), apart.compressed()
    weights = np.maximum(np.percentile(d, 0.5) - d, 0) ** 2
    if criterion == "pearson":
        weights = np.ones(d.size)
    elif (weights > 0).sum() < 3:
        return np.nan
    covariance = np.cov(x, d, aweights=weights)
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def correlations(scaling: HeadScaling) -> list[float]:
    return [stage.correlation for stage in scaling.faithfulness]


def check_head(trace: Trace, distance: Distance, criterion: Measure, head: int = 0) -> HeadScaling:
    """A head's scaling against the definitions."""
    scaling = scale_head(trace, 0, head, distance, criterion)
    curve = [correlation_by_hand(*by_hand(trace, head, distance, c), criterion) for c in C_VALUES]
    np.testing.assert_allclose(scaling.curve, curve, rtol=1e-6, atol=1e-6)
    target, at_c = by_hand(trace, head, distance, scaling.c)
    best = correlation_by_hand(target, at_c, criterion)
    assert scaling.correlation == pytest.approx(best, abs=1e-6)
    assert best <= min(curve) + 1e-6
    raw = by_hand(trace, head, distance, translated=False)[1]
    stages = raw, by_hand(trace, head, distance)[1], at_c
    expected = [correlation_by_hand(target, centred(each)) for each in stages]
    np.testing.assert_allclose(correlations(scaling), expected, rtol=1e-6, atol=1e-6)
    assert tuple(scaling.pairs) == (target.count(), target.count())
    if criterion == "weighted":
        near = at_c.compressed()
        assert scaling.weighted_pairs == (near < np.percentile(near, 0.5)).sum()
    if distance == "cosine":  # which does not depend on c
        assert (scaling.c, scaling.on_edge) == (1, False)
    return scaling


def test_the_grid_rises_and_holds_the_published_values() -> None:
    assert (np.diff(C_VALUES) > 0).all()
    assert {0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0} == set(PUBLISHED_GRID) <= set(C_VALUES.tolist())


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_head_is_scaled_by_its_correlations_or_those_of_its_nearest_pairs(
    distance: Distance,
) -> None:
    check_head(random_trace(2, 7, 2), distance, "pearson")
    check_head(random_trace(5, 7, 5, causal=True), distance, "pearson")
    scaling = check_head(random_trace(5, 40, causal=True), distance, "weighted")
    assert 3 <= scaling.weighted_pairs < MIN_RELIABLE
    assert few_pairs(scaling, "weighted")
    assert not few_pairs(replace(scaling, weighted_pairs=MIN_RELIABLE), "weighted")
    assert not few_pairs(scaling, "pearson")


def test_grouped_heads_use_the_keys_of_their_group() -> None:
    queries, keys = clouds(11, 4, 12, 4)
    trace = trace_of(queries, keys[:2], np.tri(12, dtype=bool))
    for head in (1, 2):
        check_head(trace, "euclidean", "pearson", head)


def test_the_target_is_the_score_before_softmax_soft_cap_and_all() -> None:
    trace = random_trace(9)
    scaling = check_head(replace(trace, layers=(Layer(0.5, None, 1.5),)), "euclidean", "pearson")
    assert abs(correlations(scaling)[0] - correlations(scale_head(trace, 0, 0))[0]) > 0.01


def test_an_optimum_at_the_end_of_the_grid_is_flagged() -> None:
    """Queries far longer or far shorter than the keys ask for a c beyond the grid."""
    queries, keys = clouds(0, 1, 12, 4)
    queries -= queries.mean(axis=1, keepdims=True)
    keys -= keys.mean(axis=1, keepdims=True)
    longer, shorter, alike = (
        scale_head(trace_of(queries * times, keys / times), 0, 0) for times in (100, 0.01, 1)
    )
    assert (longer.c, shorter.c) == (C_VALUES[0], C_VALUES[-1])
    assert (longer.on_edge, shorter.on_edge, alike.on_edge) == (True, True, False)


def test_the_best_c_lies_between_the_steps_of_the_grid() -> None:
    """L4 H2 of MiniLM: c = 1.5324, not 1.585; the nearest key is the strongest of 4 queries, not 5.

    By plain NumPy, over the 13 x 13 pairs of the sentence, on a grid of steps of 0.0001.
    """
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    queries, keys = (each[3, 1].astype(np.float64) for each in (trace.queries, trace.keys))
    scores, keys = queries @ keys.T, keys + queries.mean(axis=0) - keys.mean(axis=0)
    target = scores - scores.mean(axis=1, keepdims=True)
    c_values = np.arange(1.4, 1.7, 0.0001)
    correlated = [
        np.corrcoef(cdist(queries * c, keys / c).ravel(), target.ravel())[0, 1] for c in c_values
    ]
    best = float(c_values[np.argmin(correlated)])
    scaling = scale_head(trace, 3, 1)
    assert best == pytest.approx(1.5324, abs=2e-4)
    assert scaling.c == pytest.approx(best, abs=1e-4)
    assert scaling.correlation == pytest.approx(min(correlated), abs=1e-7)
    nearest = cdist(queries * best, keys / best).argmin(axis=1)
    assert (nearest == scores.argmax(axis=1)).sum() == 4
    assert scaling.faithfulness.normalized.top1 == 4 / 13
    maps = scale_model(trace)
    assert (maps.normalized_top1 > maps.raw_top1).sum() == 7


def test_cosine_distances_without_length_are_one_and_equal_ones_have_no_correlation() -> None:
    queries, keys = clouds(2, 6, 4)
    queries[1], keys[4] = 0, 0
    result = distances_between(queries, keys, "cosine")
    assert (result[1].tolist(), result[:, 4].tolist()) == ([1] * 6, [1] * 6)
    positive = np.abs(clouds(6, 1, 7, 1)[0])
    for criterion in CRITERIA:  # of one dimension and one sign
        scaling = scale_head(trace_of(positive, positive[:, ::-1]), 0, 0, "cosine", criterion)
        assert np.isnan([*scaling.curve, *correlations(scaling)]).all()


def test_a_long_head_is_sampled_the_same_each_time() -> None:
    size = 300
    seen = np.tri(size, dtype=bool)
    queries, keys = clouds(8, 1, size, 4)
    queries[:, : size // 2] *= 4  # only hidden pairs have both: early queries, late keys
    keys[:, size // 2 :] *= 4
    trace = trace_of(queries, keys, seen)
    first, second = (scale_head(trace, 0, 0) for _ in range(2))
    pairs = int(seen.sum()) - 1  # the first query has one key
    assert tuple(first.pairs) == (MAX_PAIRS, pairs)
    assert first.faithfulness.raw.pairs == first.faithfulness.normalized.pairs == pairs
    np.testing.assert_array_equal(first.curve, second.curve)
    at_one = first.curve[C_VALUES.tolist().index(1.0)]
    by_all, everything = (
        correlation_by_hand(*by_hand(each, 0, "euclidean"))
        for each in (trace, trace_of(queries, keys))
    )
    assert at_one == pytest.approx(by_all, abs=5 / MAX_PAIRS**0.5)
    assert abs(everything - at_one) > 5 / MAX_PAIRS**0.5, "the mask has to matter here"


def test_the_maps_of_the_model_hold_each_head_at_its_place() -> None:
    trace = trace_of(*clouds(1, 2, 12, 4), np.tri(12, dtype=bool), layers=2)
    queries = np.random.default_rng(1).normal(0.4, 1, trace.queries.shape)
    trace = replace(trace, queries=queries.astype(np.float32))
    maps = scale_model(trace)
    for place in ((0, 1), (1, 0)):
        own = scale_head(trace, *place)
        raw, _, normalized = own.faithfulness
        expected = [each.correlation for each in own.faithfulness]
        assert [each[place] for each in (maps.raw, maps.translated, maps.normalized)] == expected
        assert (maps.raw_top1[place], maps.normalized_top1[place]) == (raw.top1, normalized.top1)
        assert maps.on_edge[place] == own.on_edge
    assert not maps.few.any()
    assert scale_model(trace, criterion="weighted").few.all()


WITHOUT_CORRELATION = {
    *("constant keys", "identical tokens", "no length", "one point of many", "one token")
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_heads_have_a_c_and_correlations_only_where_a_row_varies(name: str) -> None:
    queries, keys = (each[None] for each in DEGENERATE[name])
    masks = (None, np.tri(queries.shape[1], dtype=bool))
    for seen, distance, criterion in product(masks, DISTANCES, CRITERIA):
        scaling = scale_head(trace_of(queries, keys, seen), 0, 0, distance, criterion)
        figures = np.array([*scaling.curve, *correlations(scaling)])
        assert 0 < scaling.c < np.inf
        assert (np.isnan(figures) | (np.abs(figures) <= 1 + 1e-9)).all()
        if np.isnan(scaling.curve).all():
            assert (scaling.c, scaling.on_edge) == (1, False)
        if name in WITHOUT_CORRELATION and seen is None:
            assert np.isnan(figures).all()


SHARES = {"all": 1.0, "some": 0.6}


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 8),
    st.sampled_from(("all", "causal", "some")),
    st.booleans(),
)
def test_faithfulness_is_that_of_the_pairs_that_count_less_the_means_of_their_rows(
    seed: int, size: int, kind: str, tied: bool
) -> None:
    """Of small whole numbers most are tied, and some matrices are constant."""
    rng, shape = np.random.default_rng(seed), (2, size, size)
    allowed = np.tri(size) > 0 if kind == "causal" else rng.random(shape[1:]) < SHARES[kind]
    logits, apart = rng.integers(0, 3, shape).astype(float) if tied else rng.normal(size=shape)
    logits[~allowed] = -np.inf
    result = compare_matrix(matrix_target(logits, allowed), apart)
    pairs = counted(allowed)
    choice = pairs.any(axis=1)
    assert result.pairs == pairs.sum()
    if not choice.any():
        assert np.isnan([*result[:-1], uniform_baseline(query_rows(allowed))]).all()
        return
    strongest, nearest = (np.where(pairs, each, -np.inf).argmax(1) for each in (logits, -apart))
    assert result.top1 == pytest.approx((strongest == nearest)[choice].mean())
    uniform = (1 / allowed[choice].sum(axis=1)).mean()
    assert uniform_baseline(query_rows(allowed)) == pytest.approx(uniform)
    x, y = (centred(np.ma.array(each, mask=~pairs)).compressed() for each in (logits, apart))
    if min(np.ptp(x), np.ptp(y)) > 1e-12:
        assert result.correlation == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    else:
        assert np.isnan(result.correlation)


def test_the_interval_is_a_jackknife_that_leaves_out_one_query_at_a_time() -> None:
    """On Fisher's z; Student's 97.5 % of 8 degrees is 2.306."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(9, 9))
    apart = rng.normal(size=(9, 9)) - 0.5 * scores
    result = compare_matrix(matrix_target(scores, np.ones((9, 9), bool)), apart)
    x, y = centred(apart), centred(scores)
    without = [np.delete(np.arange(9), left) for left in range(9)]
    middle, *z = (
        np.arctanh(np.corrcoef(x[rows].ravel(), y[rows].ravel())[0, 1])
        for rows in (np.arange(9), *without)
    )
    reach = 2.306 * np.sqrt(8 * np.var(z))
    expected = np.tanh(middle - reach), np.tanh(middle + reach)
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-4)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Scores and distances whose rows differ in strength, correlated by -0.5 within rows."""
    inside = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        strength = rng.uniform(0.5, 2, (20, 1))
        scores = strength * rng.normal(size=(20, 20))
        apart = -0.5 * scores + 0.75**0.5 * strength * rng.normal(size=(20, 20))
        result = compare_matrix(matrix_target(scores, np.ones((20, 20), bool)), apart)
        inside += result.low < -0.5 < result.high
    assert 0.9 < inside / 150 < 0.985
