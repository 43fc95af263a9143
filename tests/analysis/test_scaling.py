"""The constants of a head against SciPy, NumPy and the formula of the weighted correlation."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from core.analysis.query_key.correlation import MAX_PAIRS, MAX_RANKED_PAIRS
from core.analysis.query_key.distance import Distance
from core.analysis.query_key.scaling import (
    C_VALUES,
    MIN_RELIABLE,
    PUBLISHED_GRID,
    Criterion,
    HeadScaling,
    balanced_c,
    few_pairs,
    scale_head,
    scale_model,
    squared_distance,
)
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens

if TYPE_CHECKING:
    from core.analysis.query_key.target import TargetKind

Floats = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
DISTANCES: tuple[Distance, ...] = get_args(Distance)
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
EVERY_WAY = [(d, c) for d in DISTANCES for c in CRITERIA]
few_examples = settings(deadline=None, max_examples=15)
pytestmark = pytest.mark.filterwarnings("error")


# Traces by hand --------------------------------------------------------------------------------


def trace_of(queries: Any, keys: Any, seen: Any = None, layers: int = 1) -> Trace:
    """Queries and keys (head, token, dim), the same in each layer; `seen` is (token, token)."""
    queries, keys = (np.repeat(np.asarray(v, np.float32)[None], layers, 0) for v in (queries, keys))
    mask = None if seen is None else np.where(seen, 0, -np.inf).astype(np.float32)
    names = plain_tokens(*(f"t{i}" for i in range(queries.shape[2])))
    rules = (Layer(0.5, mask),) * layers
    return Trace("by hand", names, queries, keys, keys.copy(), rules, causal=seen is not None)


def clouds(
    seed: int, size: int = 8, dim: int = 4, heads: int = 1, key_heads: int = 1
) -> tuple[Floats, Floats]:
    """Clouds of different size around different centres, (head, token, dim) each."""
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(heads, size, dim)) * 1.5 + rng.normal(size=dim)
    keys = rng.normal(size=(key_heads, size, dim)) * 0.6 + rng.normal(size=dim)
    return queries, keys


def random_trace(seed: int, size: int = 8, dim: int = 4, *, causal: bool = False) -> Trace:
    return trace_of(*clouds(seed, size, dim), np.tri(size, dtype=bool) if causal else None)


# Oracles ---------------------------------------------------------------------------------------


def head_by_hand(trace: Trace, layer: int, head: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Queries, keys and counted pairs of a head; grouped keys found by counting."""
    at = head // (trace.queries.shape[1] // trace.kv_keys.shape[1])
    queries = trace.queries[layer, head].astype(np.float64)
    mask = trace.layers[layer].mask
    seen = np.ones((len(queries), len(queries)), bool) if mask is None else mask == 0
    seen = seen & (seen.sum(axis=1, keepdims=True) > 1)  # a query with one key tells nothing
    return queries, trace.kv_keys[layer, at].astype(np.float64), seen


def distance_by_hand(queries: Floats, keys: Floats, distance: Distance) -> Floats:
    metric = {"squared euclidean": "sqeuclidean"}.get(distance, distance)
    return np.asarray(cdist(queries, keys, metric))


def weighted_by_hand(x: Floats, y: Floats) -> float:
    limit = np.percentile(y, 0.5)
    near = y < limit
    x, y, w = x[near], y[near], (limit - y[near]) ** 2
    if len(x) < 3:
        return np.nan
    dx, dy = x - (w * x).sum() / w.sum(), y - (w * y).sum() / w.sum()
    return float((w * dx * dy).sum() / np.sqrt((w * dx * dx).sum() * (w * dy * dy).sum()))


def correlation_by_hand(x: Floats, y: Floats, criterion: Criterion) -> float:
    if criterion == "weighted":
        return weighted_by_hand(x, y)
    if criterion == "spearman":
        return float(stats.spearmanr(x, y).statistic)
    return float(np.corrcoef(x, y)[0, 1])


def target_by_hand(trace: Trace, layer: int, head: int, kind: TargetKind = "centred") -> Floats:
    """Scores of the vectors as they are, less the mean of their row or of all of them."""
    queries, keys, seen = head_by_hand(trace, layer, head)
    rule = trace.layers[layer]
    scores = np.array([[rule.scaling * float(q @ k) for k in keys] for q in queries])
    if rule.softcap is not None:
        scores = rule.softcap * np.tanh(scores / rule.softcap)
    if kind == "raw":
        return np.asarray(scores - scores[seen].mean())
    means = [
        row[mine].mean() if mine.any() else 0.0 for row, mine in zip(scores, seen, strict=True)
    ]
    return np.asarray(scores - np.array(means)[:, None])


def at_constants(
    trace: Trace,
    layer: int,
    head: int,
    a: Floats,
    c: float,
    distance: Distance,
    by: Criterion,
    kind: TargetKind = "centred",
) -> float:
    """The criterion of vectors really translated and scaled, one pair after another."""
    queries, keys, seen = head_by_hand(trace, layer, head)
    target = target_by_hand(trace, layer, head, kind)
    apart = distance_by_hand(queries * c, (keys + a) / c, distance)
    pairs = [(i, j) for i in range(len(seen)) for j in range(len(seen)) if seen[i, j]]
    x = np.array([target[i, j] for i, j in pairs])
    return correlation_by_hand(x, np.array([apart[i, j] for i, j in pairs]), by)


def kept_by_hand(
    trace: Trace, layer: int, head: int, a: Floats, c: float, distance: Distance
) -> float:
    """Correlation of distances and scores that have both lost the mean of their row."""
    queries, keys, seen = head_by_hand(trace, layer, head)
    target = target_by_hand(trace, layer, head)
    apart = distance_by_hand(queries * c, (keys + a) / c, distance)
    rows = [i for i in range(len(seen)) if seen[i].any()]
    x = np.concatenate([apart[i][seen[i]] - apart[i][seen[i]].mean() for i in rows])
    y = np.concatenate([target[i][seen[i]] for i in rows])
    return float(np.corrcoef(x, y)[0, 1])


def translation_by_hand(trace: Trace, layer: int, head: int) -> Floats:
    queries, keys, _ = head_by_hand(trace, layer, head)
    return np.asarray(sum(queries) / len(queries) - sum(keys) / len(keys))


def check_head(
    trace: Trace, layer: int, head: int, distance: Distance, criterion: Criterion
) -> HeadScaling:
    """Everything a head's scaling tells, but its flags, against the definitions."""
    found = scale_head(trace, layer, head, distance, criterion)
    a = translation_by_hand(trace, layer, head)
    close: Any = {"rtol": 1e-6, "atol": 1e-6}

    def by_hand(shift: Floats, c: float) -> float:
        return at_constants(trace, layer, head, shift, c, distance, criterion)

    np.testing.assert_allclose(found.a, a, rtol=1e-9, atol=1e-7)
    curve = np.array([by_hand(a, c) for c in C_VALUES])
    np.testing.assert_allclose(found.curve, curve, **close)
    for kept, shift, c in (
        (found.faithfulness.raw.correlation, np.zeros_like(a), 1.0),
        (found.faithfulness.translated.correlation, a, 1.0),
        (found.faithfulness.normalized.correlation, a, found.c),
    ):
        expected = kept_by_hand(trace, layer, head, shift, c, distance)
        np.testing.assert_allclose(kept, expected, **close)
    if criterion != "balanced":
        assert found.c in C_VALUES
        assert by_hand(a, found.c) <= curve.min() + 1e-6
    seen = int(head_by_hand(trace, layer, head)[2].sum())
    assert tuple(found.pairs) == (seen, seen)
    return found


# One head --------------------------------------------------------------------------------------


def test_the_grid_rises_and_holds_the_published_values() -> None:
    assert (np.diff(C_VALUES) > 0).all()
    assert {0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0} == set(PUBLISHED_GRID) <= set(C_VALUES.tolist())


@few_examples
@given(
    SEEDS,
    st.sampled_from(DISTANCES),
    st.sampled_from(("pearson", "spearman", "balanced")),
    st.booleans(),
    st.integers(1, 5),
)
def test_a_head_is_scaled_as_a_literal_loop_does_it(
    seed: int, distance: Distance, criterion: Criterion, causal: bool, dim: int
) -> None:
    if distance == "cosine" and dim == 1:
        dim = 2  # in one dimension cosine distances are 0 or 2: ranks of rounding errors
    check_head(random_trace(seed, 7, dim, causal=causal), 0, 0, distance, criterion)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("causal", [False, True])
def test_the_weighted_criterion_looks_at_the_nearest_pairs(
    distance: Distance, causal: bool
) -> None:
    trace = random_trace(5, 40, causal=causal)
    found = check_head(trace, 0, 0, distance, "weighted")
    queries, keys, seen = head_by_hand(trace, 0, 0)
    apart = distance_by_hand(queries * found.c, (keys + found.a) / found.c, distance)[seen]
    assert found.weighted_pairs == (apart < np.percentile(apart, 0.5)).sum()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_grouped_heads_use_the_keys_of_their_group(criterion: Criterion) -> None:
    trace = trace_of(*clouds(11, 30, heads=4, key_heads=2), np.tri(30, dtype=bool))
    for head in (1, 2):
        check_head(trace, 0, head, "euclidean", criterion)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("criterion", ["pearson", "spearman", "weighted"])
def test_a_masked_key_has_no_part_but_in_the_translation(
    distance: Distance, criterion: Criterion
) -> None:
    """Padding far away, mirrored so that the centroid of the keys stays where it was."""
    queries, keys = clouds(3, 32)
    seen = np.ones((32, 32), bool)
    seen[:, 30:] = False
    near = trace_of(queries, keys, seen)
    keys = keys.copy()
    keys[:, 30] += 64
    keys[:, 31] -= 64
    far = trace_of(queries, keys, seen)
    first, second = (scale_head(each, 0, 0, distance, criterion) for each in (near, far))
    np.testing.assert_allclose(first.curve, second.curve, rtol=1e-3, atol=1e-5)
    assert first.pairs == second.pairs == (32 * 30, 32 * 30)


@few_examples
@given(SEEDS, st.sampled_from(DISTANCES), st.booleans())
def test_raw_scores_stay_where_they_are_while_keys_are_translated(
    seed: int, distance: Distance, causal: bool
) -> None:
    trace = random_trace(seed, 7, causal=causal)
    found = scale_head(trace, 0, 0, distance, "pearson", "raw")
    a = translation_by_hand(trace, 0, 0)

    def by_hand(shift: Floats, c: float) -> float:
        return at_constants(trace, 0, 0, shift, c, distance, "pearson", "raw")

    assert found.faithfulness.raw.correlation == pytest.approx(
        by_hand(np.zeros_like(a), 1.0), abs=1e-6
    )
    assert found.faithfulness.translated.correlation == pytest.approx(by_hand(a, 1.0), abs=1e-6)
    assert found.faithfulness.normalized.correlation == pytest.approx(by_hand(a, found.c), abs=1e-6)


def test_the_target_is_what_softmax_gets_soft_cap_and_all() -> None:
    trace = random_trace(9)
    capped = replace(trace, layers=(Layer(0.5, None, 1.5),))
    found = check_head(capped, 0, 0, "euclidean", "pearson")
    assert (
        abs(
            found.faithfulness.raw.correlation
            - scale_head(trace, 0, 0).faithfulness.raw.correlation
        )
        > 0.01
    ), "the cap has to matter here"


def test_one_vector_added_to_all_keys_of_the_model_changes_no_target() -> None:
    """Softmax does not see it, and neither does what is told of the translated stages."""
    queries, keys = clouds(13)
    first = scale_head(trace_of(queries, keys), 0, 0)
    second = scale_head(trace_of(queries, keys + np.array([3.0, -2.0, 1.0, 0.5])), 0, 0)
    assert first.c == second.c
    np.testing.assert_allclose(first.curve, second.curve, atol=1e-5)
    assert first.faithfulness.translated.correlation == pytest.approx(
        second.faithfulness.translated.correlation, abs=1e-5
    )
    assert first.faithfulness.normalized.correlation == pytest.approx(
        second.faithfulness.normalized.correlation, abs=1e-5
    )


# Balanced norms --------------------------------------------------------------------------------


@settings(deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 5))
def test_the_balanced_c_makes_median_norms_equal(seed: int, size: int, dim: int) -> None:
    queries, keys = (each[0] for each in clouds(seed, size, dim))
    c = balanced_c(queries, keys)
    after = [sorted(np.sqrt((v * v).sum(axis=1))) for v in (queries * c, keys / c)]
    middle = [(norms[(size - 1) // 2] + norms[size // 2]) / 2 for norms in after]
    assert c > 0
    assert middle[0] == pytest.approx(middle[1], rel=1e-9)


def test_the_balanced_c_of_a_cloud_without_length_is_one() -> None:
    some, none = np.ones((4, 3)), np.zeros((4, 3))
    assert [balanced_c(*pair) for pair in ((none, some), (some, none), (none, none))] == [1, 1, 1]


def test_the_balanced_criterion_scales_a_head_to_equal_median_norms() -> None:
    trace = random_trace(21)
    found = scale_head(trace, 0, 0, criterion="balanced")
    queries, keys, _ = head_by_hand(trace, 0, 0)
    after = (queries * found.c, (keys + found.a) / found.c)
    medians = [np.median(np.linalg.norm(each, axis=1)) for each in after]
    assert medians[0] == pytest.approx(medians[1], rel=1e-6)


# Flags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["pearson", "spearman", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_cosine_distance_is_flat_in_c(criterion: Criterion, seed: int) -> None:
    found = scale_head(random_trace(seed, 40), 0, 0, "cosine", criterion)
    assert found.flat
    assert not found.on_edge
    assert np.ptp(found.curve) < 1e-6
    assert found.faithfulness.normalized.correlation == pytest.approx(
        found.faithfulness.translated.correlation, abs=1e-6
    )


@pytest.mark.parametrize("distance", ["euclidean", "squared euclidean"])
@pytest.mark.parametrize("seed", range(3))
def test_other_distances_are_not_flat(distance: Distance, seed: int) -> None:
    assert not scale_head(random_trace(seed), 0, 0, distance).flat


def test_an_optimum_at_the_end_of_the_grid_is_flagged() -> None:
    """Queries far longer or far shorter than the keys ask for a c beyond the grid."""
    queries, keys = clouds(0, 12)
    queries -= queries.mean(axis=1, keepdims=True)
    keys -= keys.mean(axis=1, keepdims=True)
    inside = scale_head(trace_of(queries, keys), 0, 0)
    small = scale_head(trace_of(queries * 1e4, keys), 0, 0)
    large = scale_head(trace_of(queries, keys * 1e4), 0, 0)
    assert not inside.on_edge
    assert C_VALUES[0] < inside.c < C_VALUES[-1]
    assert small.on_edge
    assert small.c == C_VALUES[0]
    assert large.on_edge
    assert large.c == C_VALUES[-1]


@few_examples
@given(SEEDS, st.floats(0.01, 100))
def test_the_edge_is_flagged_exactly_where_c_is_on_it(seed: int, factor: float) -> None:
    queries, keys = clouds(seed)
    found = scale_head(trace_of(queries * factor, keys), 0, 0)
    assert found.on_edge == (found.c in (C_VALUES[0], C_VALUES[-1]))


def test_few_pairs_are_told_where_the_criterion_weighs_them() -> None:
    found = scale_head(random_trace(2, 40), 0, 0, criterion="weighted")
    assert found.weighted_pairs < MIN_RELIABLE
    assert few_pairs(found, "weighted")
    assert few_pairs(replace(found, weighted_pairs=MIN_RELIABLE - 1), "weighted")
    assert not few_pairs(replace(found, weighted_pairs=MIN_RELIABLE), "weighted")
    assert not few_pairs(scale_head(random_trace(2, 100), 0, 0, criterion="weighted"), "weighted")
    few = random_trace(
        2, 4
    )  # 16 pairs: few, but every criterion but the weighted one uses them all
    assert not few_pairs(scale_head(few, 0, 0), "pearson")
    assert not scale_model(few).few.any()


# Long inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["pearson", "spearman"])
def test_a_long_head_is_sampled_the_same_each_time(criterion: Criterion) -> None:
    size = 300
    seen = np.tri(size, dtype=bool)
    queries, keys = clouds(8, size)
    queries[:, : size // 2] *= 4  # only hidden pairs have both: early queries, late keys
    keys[:, size // 2 :] *= 4
    trace = trace_of(queries, keys, seen)
    first, second = (scale_head(trace, 0, 0, criterion=criterion) for _ in range(2))
    most = MAX_RANKED_PAIRS if criterion == "spearman" else MAX_PAIRS
    counted = int(seen.sum()) - 1  # the first query has one key
    assert tuple(first.pairs) == (most, counted)
    assert first.faithfulness.raw.pairs == first.faithfulness.normalized.pairs == counted
    np.testing.assert_array_equal(first.curve, second.curve)
    assert first.c == second.c
    for c in (C_VALUES[0], 1.0, first.c):
        by_all = at_constants(trace, 0, 0, first.a, c, "euclidean", criterion)
        at = C_VALUES.tolist().index(float(c))
        assert first.curve[at] == pytest.approx(by_all, abs=5 / most**0.5)
    unmasked = trace_of(queries, keys)
    everything = at_constants(unmasked, 0, 0, first.a, 1.0, "euclidean", criterion)
    assert abs(everything - first.curve[C_VALUES.tolist().index(1.0)]) > 5 / most**0.5, (
        "the mask has to matter here"
    )


# The model -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("distance", "criterion"), EVERY_WAY)
def test_the_model_is_its_heads(distance: Distance, criterion: Criterion) -> None:
    rng = np.random.default_rng(1)
    trace = trace_of(*clouds(1, 26, heads=4, key_heads=2), np.tri(26, dtype=bool), layers=2)
    trace = replace(trace, queries=rng.normal(0.4, 1, trace.queries.shape).astype(np.float32))
    found = scale_model(trace, distance, criterion)
    for layer in range(2):
        for head in range(4):
            one = scale_head(trace, layer, head, distance, criterion)
            correlations = [stage.correlation for stage in one.faithfulness]
            maps = (found.raw, found.translated, found.normalized)
            np.testing.assert_array_equal([each[layer, head] for each in maps], correlations)
            assert (found.c[layer, head], found.on_edge[layer, head]) == (one.c, one.on_edge)
            assert found.raw_top1[layer, head] == one.faithfulness.raw.top1
            assert found.normalized_top1[layer, head] == one.faithfulness.normalized.top1
            assert found.few[layer, head] == few_pairs(one, criterion)
    assert all(getattr(found, each.name).shape == (2, 4) for each in fields(found))
    assert len(np.unique(found.raw[np.isfinite(found.raw)])) in (0, 8)


# Squared distance ------------------------------------------------------------------------------


@few_examples
@given(SEEDS, st.booleans())
def test_squared_distance_has_its_optimum_where_a_search_finds_it(seed: int, causal: bool) -> None:
    trace = random_trace(seed, causal=causal)
    a = translation_by_hand(trace, 0, 0)

    def by_hand(log_c: float) -> float:
        c = float(np.exp(log_c))
        return at_constants(trace, 0, 0, a, c, "squared euclidean", "pearson")

    found = squared_distance(trace, 0, 0, a)
    curve = np.array([by_hand(np.log(c)) for c in C_VALUES])
    np.testing.assert_allclose(found.curve, curve, rtol=1e-6, atol=1e-6)
    best = int(curve.argmin())
    assert found.on_grid in C_VALUES
    assert found.curve[found.on_grid == C_VALUES] == pytest.approx(curve[best], abs=1e-9)
    if 0 < best < len(C_VALUES) - 1:
        ends = np.log(C_VALUES[best - 1]), np.log(C_VALUES[best + 1])
        searched = minimize_scalar(by_hand, bounds=ends, method="bounded", options={"xatol": 1e-9})
        if searched.fun < min(by_hand(-9), by_hand(9)):  # else it lies beyond the grid
            assert found.closed_form is not None
            assert np.log(found.closed_form) == pytest.approx(searched.x, abs=1e-4)


# Degenerate heads ------------------------------------------------------------------------------

TWO = clouds(0, 2)
ONE_DIM = clouds(0, 6, 1)
SAME = [np.broadcast_to(each[:, :1], each.shape) for each in clouds(0, 6)]
CONSTANT_KEYS = (clouds(0, 6)[0], SAME[1])
NOTHING = (np.zeros((1, 5, 3)), np.zeros((1, 5, 3)))
SINGLE = clouds(0, 1)
DEGENERATE: dict[str, tuple[Floats, Floats]] = {
    "two tokens": TWO,
    "head of one dimension": ONE_DIM,
    "identical tokens": (SAME[0], SAME[1]),
    "constant keys": CONSTANT_KEYS,
    "constant queries": (SAME[0], clouds(0, 6)[1]),
    "no length": NOTHING,
    "one token": SINGLE,
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(("distance", "criterion"), EVERY_WAY)
def test_degenerate_heads_have_a_constant_and_correlations_or_none(
    name: str, distance: Distance, criterion: Criterion
) -> None:
    queries, keys = DEGENERATE[name]
    for seen in (None, np.tri(queries.shape[1], dtype=bool)):
        trace = trace_of(queries, keys, seen)
        found = scale_head(trace, 0, 0, distance, criterion)
        figures = np.array(
            [
                *found.curve,
                found.faithfulness.raw.correlation,
                found.faithfulness.translated.correlation,
                found.faithfulness.normalized.correlation,
            ]
        )
        assert 0 < found.c < np.inf
        assert (np.isnan(figures) | (np.abs(figures) <= 1 + 1e-9)).all()
        if np.isnan(found.curve).all() and criterion != "balanced":
            assert found.c == 1
            assert not found.on_edge
        np.testing.assert_array_equal(scale_model(trace, distance, criterion).c, [[found.c]])
        squared_distance(trace, 0, 0, found.a)


@pytest.mark.parametrize("name", ["identical tokens", "no length", "one token", "constant keys"])
@pytest.mark.parametrize(("distance", "criterion"), EVERY_WAY)
def test_where_no_row_varies_there_is_no_correlation(
    name: str, distance: Distance, criterion: Criterion
) -> None:
    found = scale_head(trace_of(*DEGENERATE[name]), 0, 0, distance, criterion)
    assert np.isnan(
        [
            *found.curve,
            found.faithfulness.raw.correlation,
            found.faithfulness.translated.correlation,
            found.faithfulness.normalized.correlation,
        ]
    ).all()


@pytest.mark.parametrize("criterion", ["pearson", "spearman", "balanced"])
@pytest.mark.parametrize("name", ["two tokens", "head of one dimension"])
def test_degenerate_heads_that_still_vary_follow_the_loop(name: str, criterion: Criterion) -> None:
    queries, keys = DEGENERATE[name]
    # two centred tokens are at equal distances in pairs: their ranks need exact arithmetic
    distance: Distance = (
        "cosine" if (name, criterion) == ("two tokens", "spearman") else "euclidean"
    )
    check_head(trace_of(queries, keys), 0, 0, distance, criterion)
