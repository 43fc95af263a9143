"""The constants of a head against SciPy, NumPy and the formula of the weighted correlation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from core.analysis.query_key.correlation import (
    MAX_PAIRS,
    Distance,
    Measure,
    distances_between,
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
from tests.analysis.test_joint_embedding import DEGENERATE
from tests.analysis.traces import additive, made_trace

Floats = NDArray[np.float64]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
CRITERIA: tuple[Measure, ...] = get_args(Measure)
EVERY_WAY = [(d, c) for d in DISTANCES for c in CRITERIA]
pytestmark = pytest.mark.filterwarnings("error")


def trace_of(queries: Any, keys: Any, seen: Any = None, layers: int = 1) -> Trace:
    """Queries and keys (head, token, dim), the same in each layer; `seen` is (token, token)."""
    mask = None if seen is None else additive(seen)
    sides = (np.repeat(np.asarray(each)[None], layers, 0) for each in (queries, keys))
    return made_trace(*sides, mask=mask, scaling=0.5)


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


def head_by_hand(trace: Trace, layer: int, head: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Queries, keys and counted pairs of a head; grouped keys found by counting."""
    group = head // (trace.queries.shape[1] // trace.kv_keys.shape[1])
    queries = trace.queries[layer, head].astype(np.float64)
    mask = trace.layers[layer].mask
    seen = np.ones((len(queries), len(queries)), bool) if mask is None else mask == 0
    seen = seen & (seen.sum(axis=1, keepdims=True) > 1)  # a query with one key does not count
    return queries, trace.kv_keys[layer, group].astype(np.float64), seen


def distance_by_hand(queries: Floats, keys: Floats, distance: Distance) -> Floats:
    metric = {"squared euclidean": "sqeuclidean"}.get(distance, distance)
    return np.asarray(cdist(queries, keys, metric))


def target_by_hand(trace: Trace, layer: int, head: int) -> Floats:
    """Scores of the vectors as they are, less the mean of their row."""
    queries, keys, seen = head_by_hand(trace, layer, head)
    rule = trace.layers[layer]
    scores = np.array([[rule.scaling * float(q @ k) for k in keys] for q in queries])
    if rule.softcap is not None:
        scores = rule.softcap * np.tanh(scores / rule.softcap)
    means = [
        row[mine].mean() if mine.any() else 0.0 for row, mine in zip(scores, seen, strict=True)
    ]
    return np.asarray(scores - np.array(means)[:, None])


def weighted_by_hand(x: Floats, d: Floats) -> float:
    """Weights (d* - d)^2 below the 0.5th percentile d*, sums one pair after another."""
    limit = np.percentile(d, 0.5)
    near = [(x[i], d[i], (limit - d[i]) ** 2) for i in range(len(d)) if d[i] < limit]
    if len(near) < 3:
        return np.nan
    total = sum(w for _, _, w in near)
    mean_x = sum(w * a for a, _, w in near) / total
    mean_y = sum(w * b for _, b, w in near) / total
    xy = sum(w * (a - mean_x) * (b - mean_y) for a, b, w in near)
    xx = sum(w * (a - mean_x) ** 2 for a, _, w in near)
    yy = sum(w * (b - mean_y) ** 2 for _, b, w in near)
    return float(xy / (xx * yy) ** 0.5)


def at_constants(
    trace: Trace,
    layer: int,
    head: int,
    a: Floats,
    c: float,
    distance: Distance,
    by: Measure,
) -> float:
    """The criterion of vectors really translated and scaled, one pair after another."""
    queries, keys, seen = head_by_hand(trace, layer, head)
    target = target_by_hand(trace, layer, head)
    apart = distance_by_hand(queries * c, (keys + a) / c, distance)
    pairs = [(i, j) for i in range(len(seen)) for j in range(len(seen)) if seen[i, j]]
    x, d = (np.array([each[i, j] for i, j in pairs]) for each in (target, apart))
    return weighted_by_hand(x, d) if by == "weighted" else float(np.corrcoef(x, d)[0, 1])


def faithfulness_by_hand(
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


def correlations(scaling: HeadScaling) -> list[float]:
    return [stage.correlation for stage in scaling.faithfulness]


def check_head(
    trace: Trace, layer: int, head: int, distance: Distance, criterion: Measure
) -> HeadScaling:
    """A head's scaling, but its flags, against the definitions."""
    scaling = scale_head(trace, layer, head, distance, criterion)
    a = translation_by_hand(trace, layer, head)
    np.testing.assert_allclose(scaling.a, a, rtol=1e-9, atol=1e-7)
    curve = [at_constants(trace, layer, head, a, c, distance, criterion) for c in C_VALUES]
    np.testing.assert_allclose(scaling.curve, curve, rtol=1e-6, atol=1e-6)
    stages = ((np.zeros_like(a), 1.0), (a, 1.0), (a, scaling.c))
    expected = [faithfulness_by_hand(trace, layer, head, *stage, distance) for stage in stages]
    np.testing.assert_allclose(correlations(scaling), expected, rtol=1e-6, atol=1e-6)
    at_c = at_constants(trace, layer, head, a, scaling.c, distance, criterion)
    assert scaling.correlation == pytest.approx(at_c, abs=1e-6)
    assert at_c <= min(curve) + 1e-6
    seen = int(head_by_hand(trace, layer, head)[2].sum())
    assert tuple(scaling.pairs) == (seen, seen)
    return scaling


def test_the_grid_rises_and_holds_the_published_values() -> None:
    assert (np.diff(C_VALUES) > 0).all()
    assert {0.2, 0.4, 0.8, 1.0, 1.25, 2.5, 5.0} == set(PUBLISHED_GRID) <= set(C_VALUES.tolist())


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("causal", "dim"), [(False, 2), (True, 5)])
def test_a_head_is_scaled_as_a_literal_loop_does_it(
    distance: Distance, causal: bool, dim: int
) -> None:
    check_head(random_trace(dim, 7, dim, causal=causal), 0, 0, distance, "pearson")


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_weighted_criterion_looks_at_the_nearest_pairs(distance: Distance) -> None:
    trace = random_trace(5, 40, causal=True)
    scaling = check_head(trace, 0, 0, distance, "weighted")
    queries, keys, seen = head_by_hand(trace, 0, 0)
    moved = (queries * scaling.c, (keys + scaling.a) / scaling.c)
    apart = distance_by_hand(*moved, distance)[seen]
    assert scaling.weighted_pairs == (apart < np.percentile(apart, 0.5)).sum()


def test_grouped_heads_use_the_keys_of_their_group() -> None:
    trace = trace_of(*clouds(11, 12, heads=4, key_heads=2), np.tri(12, dtype=bool))
    for head in (1, 2):
        check_head(trace, 0, head, "euclidean", "pearson")


@pytest.mark.parametrize("criterion", ["pearson", "weighted"])
def test_a_masked_key_has_no_part_but_in_the_translation(criterion: Measure) -> None:
    """Padding far away, mirrored so that the centroid of the keys stays where it was."""
    queries, keys = clouds(3, 32)
    seen = np.ones((32, 32), bool)
    seen[:, 30:] = False
    near = trace_of(queries, keys, seen)
    keys = keys.copy()
    keys[:, 30] += 64
    keys[:, 31] -= 64
    far = trace_of(queries, keys, seen)
    first, second = (scale_head(each, 0, 0, "euclidean", criterion) for each in (near, far))
    np.testing.assert_allclose(first.curve, second.curve, rtol=1e-3, atol=1e-5)
    assert first.pairs == second.pairs == (32 * 30, 32 * 30)


def test_the_target_is_the_score_before_softmax_soft_cap_and_all() -> None:
    trace = random_trace(9)
    capped = replace(trace, layers=(Layer(0.5, None, 1.5),))
    scaling = check_head(capped, 0, 0, "euclidean", "pearson")
    assert abs(correlations(scaling)[0] - correlations(scale_head(trace, 0, 0))[0]) > 0.01


def test_one_vector_added_to_all_keys_of_the_model_changes_no_target() -> None:
    """Softmax ignores it, and so do the translated stages."""
    queries, keys = clouds(13)
    first = scale_head(trace_of(queries, keys), 0, 0)
    second = scale_head(trace_of(queries, keys + np.array([3.0, -2.0, 1.0, 0.5])), 0, 0)
    assert first.c == pytest.approx(second.c, rel=1e-5)
    np.testing.assert_allclose(first.curve, second.curve, atol=1e-5)
    assert correlations(first)[1:] == pytest.approx(correlations(second)[1:], abs=1e-5)


def test_cosine_distance_does_not_depend_on_c() -> None:
    scaling = scale_head(random_trace(0, 40), 0, 0, "cosine")
    assert (scaling.c, scaling.on_edge) == (1, False)
    assert np.ptp(scaling.curve) < 1e-6
    assert correlations(scaling)[2] == pytest.approx(correlations(scaling)[1], abs=1e-6)


def test_an_optimum_at_the_end_of_the_grid_is_flagged() -> None:
    """Queries far longer or far shorter than the keys ask for a c beyond the grid."""
    queries, keys = clouds(0, 12)
    queries -= queries.mean(axis=1, keepdims=True)
    keys -= keys.mean(axis=1, keepdims=True)
    for factors, c, on_edge in (
        ((1e4, 1.0), C_VALUES[0], True),
        ((1.0, 1e4), C_VALUES[-1], True),
        ((1.0, 1.0), None, False),
    ):
        scaling = scale_head(trace_of(queries * factors[0], keys * factors[1]), 0, 0)
        assert scaling.on_edge == on_edge == (scaling.c in (C_VALUES[0], C_VALUES[-1]))
        assert c in (None, scaling.c)


def test_the_best_c_lies_between_the_steps_of_the_grid() -> None:
    """L4 H2 of MiniLM: c = 1.5324, not 1.585; the nearest key is the strongest of 4 queries, not 5.

    By plain NumPy, over the 13 x 13 pairs of the sentence, on a grid of steps of 0.0001.
    """
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    queries, keys = (each[3, 1].astype(np.float64) for each in (trace.queries, trace.keys))
    scores, keys = queries @ keys.T, keys + queries.mean(axis=0) - keys.mean(axis=0)
    target = scores - scores.mean(axis=1, keepdims=True)
    c_values = np.arange(1.4, 1.7, 0.0001)
    by_hand = [
        np.corrcoef(cdist(queries * c, keys / c).ravel(), target.ravel())[0, 1] for c in c_values
    ]
    best = float(c_values[np.argmin(by_hand)])
    scaling = scale_head(trace, 3, 1)
    assert best == pytest.approx(1.5324, abs=2e-4)
    assert scaling.c == pytest.approx(best, abs=1e-4)
    assert scaling.correlation == pytest.approx(min(by_hand), abs=1e-7)
    nearest = cdist(queries * best, keys / best).argmin(axis=1)
    assert (nearest == scores.argmax(axis=1)).sum() == 4
    assert scaling.faithfulness.normalized.top1 == 4 / 13
    maps = scale_model(trace)
    assert (maps.normalized_top1 > maps.raw_top1).sum() == 7


def test_too_few_pairs_are_flagged_where_the_criterion_weighs_them() -> None:
    scaling = scale_head(random_trace(2, 40), 0, 0, criterion="weighted")
    assert scaling.weighted_pairs < MIN_RELIABLE
    assert few_pairs(scaling, "weighted")
    assert few_pairs(replace(scaling, weighted_pairs=MIN_RELIABLE - 1), "weighted")
    assert not few_pairs(replace(scaling, weighted_pairs=MIN_RELIABLE), "weighted")
    assert not few_pairs(scaling, "pearson")


def test_a_correlation_of_fewer_than_three_weighted_pairs_is_none() -> None:
    scaling = scale_head(random_trace(3, 15), 0, 0, criterion="weighted")
    assert scaling.weighted_pairs == 2
    assert np.isnan(scaling.curve).all()


def test_cosine_distances_without_length_are_one_and_equal_ones_have_no_correlation() -> None:
    (queries,), (keys,) = clouds(2, 6)
    queries[1], keys[4] = 0, 0
    result = distances_between(queries, keys, "cosine")
    assert (result[1].tolist(), result[:, 4].tolist()) == ([1] * 6, [1] * 6)
    positive = np.abs(clouds(6, 7, 1)[0])
    for criterion in CRITERIA:  # of one dimension and one sign
        scaling = scale_head(trace_of(positive, positive[:, ::-1]), 0, 0, "cosine", criterion)
        assert np.isnan([*scaling.curve, *correlations(scaling)]).all()


def test_a_long_head_is_sampled_the_same_each_time() -> None:
    size = 300
    seen = np.tri(size, dtype=bool)
    queries, keys = clouds(8, size)
    queries[:, : size // 2] *= 4  # only hidden pairs have both: early queries, late keys
    keys[:, size // 2 :] *= 4
    trace = trace_of(queries, keys, seen)
    first, second = (scale_head(trace, 0, 0) for _ in range(2))
    sample = MAX_PAIRS
    counted = int(seen.sum()) - 1  # the first query has one key
    assert tuple(first.pairs) == (sample, counted)
    assert first.faithfulness.raw.pairs == first.faithfulness.normalized.pairs == counted
    np.testing.assert_array_equal(first.curve, second.curve)
    by_all = at_constants(trace, 0, 0, first.a, 1.0, "euclidean", "pearson")
    at_one = first.curve[C_VALUES.tolist().index(1.0)]
    assert at_one == pytest.approx(by_all, abs=5 / sample**0.5)
    unmasked = trace_of(queries, keys)
    everything = at_constants(unmasked, 0, 0, first.a, 1.0, "euclidean", "pearson")
    assert abs(everything - at_one) > 5 / sample**0.5, "the mask has to matter here"


def test_the_maps_of_the_model_hold_each_head_at_its_place() -> None:
    rng = np.random.default_rng(1)
    trace = trace_of(*clouds(1, 12, heads=2), np.tri(12, dtype=bool), layers=2)
    trace = replace(trace, queries=rng.normal(0.4, 1, trace.queries.shape).astype(np.float32))
    scaling = scale_model(trace)
    for layer, head in ((0, 1), (1, 0)):
        own = scale_head(trace, layer, head)
        raw, translated, normalized = own.faithfulness
        for maps, expected in (
            (scaling.raw, raw.correlation),
            (scaling.translated, translated.correlation),
            (scaling.normalized, normalized.correlation),
            (scaling.raw_top1, raw.top1),
            (scaling.normalized_top1, normalized.top1),
        ):
            assert maps[layer, head] == expected
        assert scaling.on_edge[layer, head] == own.on_edge
    assert not scaling.few.any()
    assert scale_model(trace, criterion="weighted").few.all()


WITHOUT_CORRELATION = {
    *("constant keys", "identical tokens", "no length", "one point of many", "one token")
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(("distance", "criterion"), EVERY_WAY)
def test_degenerate_heads_have_a_c_and_correlations_only_where_a_row_varies(
    name: str, distance: Distance, criterion: Measure
) -> None:
    queries, keys = (each[None] for each in DEGENERATE[name])
    for seen in (None, np.tri(queries.shape[1], dtype=bool)):
        scaling = scale_head(trace_of(queries, keys, seen), 0, 0, distance, criterion)
        figures = np.array([*scaling.curve, *correlations(scaling)])
        assert 0 < scaling.c < np.inf
        assert (np.isnan(figures) | (np.abs(figures) <= 1 + 1e-9)).all()
        if np.isnan(scaling.curve).all():
            assert (scaling.c, scaling.on_edge) == (1, False)
        if name in WITHOUT_CORRELATION and seen is None:
            assert np.isnan(figures).all()
