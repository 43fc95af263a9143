"""Robust z-scores, and heads that are odd in one way: flagged for it and for nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import FLAGS, anomaly_table, flagged, measure_heads
from core.analysis.anomalies.flags import distances
from core.analysis.statistics import OUTLIER, robust_z
from core.model import load, trace_text
from core.model.weights import output_projection, query_key
from tests.analysis.traces import (
    causal,
    random_trace,
    random_weights,
    trace_with_attention,
    with_values,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.anomalies.measures import Measures


def attention_flags(row: pd.Series) -> set[str]:
    """Its flags without those of queries and keys, which traces made from attention have."""
    return set(row["flags"].split(", ")) - {"norm disparity", ""}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # Median 3.5; deviations 2.5 1.5 0.5 0.5 1.5 99.5, their median 1.5.
        ([1, 2, 3, 4, 5, 103], [0.6745 * (x - 3.5) / 1.5 for x in (1, 2, 3, 4, 5, 103)]),
        ([0, 0, 0, 0, 10], [0, 0, 0, 0, 10 / (1.253314 * 2)]),  # MAD 0: the mean deviation is 2
        ([7, 7, 7], [0, 0, 0]),
        ([1, np.nan, 3, 2], [-0.6745, np.nan, 0.6745, 0]),
        ([np.nan, np.nan], [np.nan, np.nan]),
    ],
)
def test_robust_z_is_the_distance_from_the_median_in_robust_standard_deviations(
    values: list[float], expected: list[float]
) -> None:
    np.testing.assert_allclose(robust_z(np.array([values], float)), [expected])


@pytest.mark.parametrize("seed", range(2))
def test_queries_ten_times_longer_are_found_by_name_and_number(seed: int) -> None:
    trace = random_trace(seed)
    queries = trace.queries.copy()
    queries[1, 2] *= 10 * np.median(np.linalg.norm(trace.kv_keys[1, 2], axis=1))
    queries[1, 2] /= np.median(np.linalg.norm(trace.queries[1, 2], axis=1))
    table = anomaly_table(replace(trace, queries=queries))
    odd = table.iloc[6]
    assert odd["norm_log_ratio"] == pytest.approx(math.log2(10), abs=1e-5)
    assert odd["z_norm_log_ratio"] > 3.5
    assert "the median query is 10.0 times as long as the median key" in odd["reasons"]
    assert list(table[table["flags"].str.contains("norm disparity")].index) == [6]


def test_an_outlier_is_odd_even_below_the_threshold() -> None:
    trace = random_trace(0, size=20)
    keys = trace.kv_keys.copy()
    keys[1, 1] /= 3  # queries three times as long: under four times, but no other head is near
    odd = anomaly_table(replace(trace, kv_keys=keys)).iloc[5]
    assert 1 < odd["norm_log_ratio"] < 2
    assert odd["z_norm_log_ratio"] > 3.5
    assert "norm disparity" in odd["flags"]


def test_a_first_token_without_value_is_found_even_under_uniform_attention() -> None:
    trace = random_trace(0)
    values = trace.kv_values.copy()
    values[0, 3, 0] = 0
    table = anomaly_table(replace(trace, kv_values=values))
    assert table["flags"][3] == "empty value"
    assert (table["first_value"][3], table["first_contribution"][3]) == (0, 0)
    assert list(flagged(table).index) == [3]


def test_attention_to_a_first_token_without_value_is_null() -> None:
    weights = random_weights(2, 2, 3, 14)
    weights[1, 0] *= 0.4
    weights[1, 0, :, 0] += 0.6
    sink = float(weights[1, 0, :, 0].mean())
    plain = with_values(trace_with_attention(weights), [1.0] * 14)
    lengths = plain.kv_values.copy()
    lengths[1, 0, 0] = 0
    odd = anomaly_table(replace(plain, kv_values=lengths)).iloc[3]
    assert attention_flags(odd) == {"first-token sink", "null attention"}
    assert odd["null_attention"] == pytest.approx(sink, abs=1e-5)
    assert odd["first_contribution"] == 0
    share = f"{100 * sink:.0f}\N{NO-BREAK SPACE}% of its attention"
    assert f"{share} goes to values that are nearly zero" in odd["reasons"]
    full = anomaly_table(plain).iloc[3]
    assert attention_flags(full) == {"first-token sink"}
    assert full["null_attention"] == 0


def one_key_each(matrix: NDArray[np.float64]) -> pd.DataFrame:
    """Four random heads on 14 tokens, the third with this attention."""
    weights = random_weights(4, 1, 4, 14)
    weights[0, 2] = matrix
    return anomaly_table(trace_with_attention(weights))


def test_one_key_each_is_an_entropy_collapse() -> None:
    table = one_key_each(np.roll(np.eye(14), 5, axis=1))
    assert attention_flags(table.iloc[2]) == {"entropy collapse"}
    assert table["entropy"][2] == pytest.approx(0, abs=1e-6)
    assert list(table[table["flags"].str.contains("entropy")].index) == [2]


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_the_previous_the_next_or_the_own_token_alone_is_no_collapse(offset: int) -> None:
    matrix = np.eye(14, k=offset)
    matrix[matrix.sum(axis=1) == 0, 0] = 1  # the token that has no such neighbour
    odd = one_key_each(matrix).iloc[2]
    assert odd["entropy"] == pytest.approx(0, abs=1e-6)
    assert odd["offset_attention"] == pytest.approx(1, abs=1e-6)
    assert attention_flags(odd) == set()


@pytest.mark.parametrize(("share", "flags"), [(0.51, set()), (0.53, {"first-token sink"})])
def test_a_sink_takes_twice_the_uniform_baseline(share: float, flags: set[str]) -> None:
    """Left to right, 12 tokens: uniform attention already gives the first 0.26."""
    size = 12
    rest = (share * size - 1) / (size - 1)  # the first row has no choice
    weights = np.tril(np.broadcast_to((1 - rest) / np.maximum(np.arange(size), 1), (size, size)).T)
    weights[:, 0] = rest
    weights[0, 0] = 1
    trace = with_values(trace_with_attention(weights[None, None].astype(np.float32)), [1.0] * size)
    row = anomaly_table(causal(trace)).iloc[0]
    assert row["first_attention"] == pytest.approx(share, abs=1e-5)
    assert row["first_uniform"] == pytest.approx(sum(1 / (i + 1) for i in range(size)) / size)
    assert attention_flags(row) == flags


@pytest.mark.parametrize(("length", "share"), [(0.3, 0), (0.11, 0), (0.09, 0.95)])
def test_only_values_under_a_tenth_of_the_median_are_nearly_zero(
    length: float, share: float
) -> None:
    weights = np.full((1, 1, 14, 14), 0.05 / 13, dtype=np.float32)
    weights[..., 3] = 0.95
    lengths = [1.0, 1.0, 1.0, length, *[1.0] * 10]
    (row,) = anomaly_table(with_values(trace_with_attention(weights), lengths)).to_dict("records")
    assert ("null attention" in row["flags"]) is (share > 0)
    assert row["null_attention"] == pytest.approx(share, abs=1e-5)
    reason = FLAGS["null attention"].explain(row)
    assert f"{100 * share:.0f}\N{NO-BREAK SPACE}% of its attention goes to values" in reason


@pytest.mark.parametrize(("value", "name"), [(0.6, "alike weights"), (-0.6, "opposite weights")])
def test_a_correlation_of_weights_is_named_by_its_sign(value: float, name: str) -> None:
    trace = random_trace(0)
    similarity = np.zeros(trace.shape[:2], dtype=np.float32)
    similarity[0, 1] = value
    table = anomaly_table(trace, similarity=similarity)
    assert list(table["flags"]) == ["", name, *[""] * 10]
    assert table["unusual_by"][1] == name
    assert table["unusual"][1] == pytest.approx(abs(table["z_weight_similarity"][1]))
    assert f"correlate at {value:+.2f}".replace("-", "−") in table["reasons"][1]


def test_under_twelve_tokens_only_what_no_text_decides_is_flagged() -> None:
    def raised(size: int) -> tuple[set[str], bool]:
        trace = random_trace(0, size=size)
        keys, values = trace.kv_keys.copy(), trace.kv_values.copy()
        keys[0, 0] *= 20
        values[0, 0, 0] = 0
        similarity = np.zeros(trace.shape[:2], dtype=np.float32)
        similarity[0, 0] = 0.9
        table = anomaly_table(replace(trace, kv_keys=keys, kv_values=values), similarity=similarity)
        return set(", ".join(table["flags"]).split(", ")) - {""}, table.attrs["too_short"]

    assert raised(11) == ({"alike weights"}, True)
    flags, too_short = raised(12)
    assert {"norm disparity", "alike weights", "empty value"} <= flags
    assert not too_short


TOKENS = 14


def resting(heads: dict[int, tuple[int, float]], count: int = 24) -> Measures:
    """One layer of random heads; each of `heads` gives a column so much of every row."""
    weights = random_weights(7, 1, count, TOKENS) * 0.2 + 0.8 / TOKENS  # near uniform
    for head, (column, share) in heads.items():
        weights[0, head] *= 1 - share
        weights[0, head, :, column] += share
    trace = with_values(trace_with_attention(weights), [1.0] * TOKENS)
    # Queries and keys that stand for weights have lengths of no meaning.
    return measure_heads(trace) | {"norm_log_ratio": np.zeros((1, count))}


def unusual_by(measures: Measures) -> dict[str, list[int]]:
    """The heads that are unusual, by flag."""
    found = {name: np.flatnonzero(far >= OUTLIER) for name, far in distances(measures).items()}
    return {name: heads.tolist() for name, heads in found.items() if heads.size}


def raised(measures: Measures, name: str) -> list[int]:
    return np.flatnonzero(FLAGS[name].raised(measures)).tolist()


def test_what_most_heads_do_makes_none_unusual() -> None:
    measures = resting(dict.fromkeys(range(16), (0, 0.7)))
    assert raised(measures, "first-token sink") == list(range(16))
    assert unusual_by(measures) == {}


def test_a_head_is_as_unusual_as_it_is_far_from_the_median_head() -> None:
    measures = resting({20: (6, 0.6)})
    assert unusual_by(measures)["column sink"] == [20]
    values = measures["sink_attention"][0]
    apart = values - np.median(values)
    z = 0.6745 * apart / np.median(np.abs(apart))
    assert distances(measures)["column sink"][0, 20] == pytest.approx(z[20])


def test_one_sink_among_few_is_unusual_where_no_other_comes_near() -> None:
    near = resting({head: (0, 0.2 + 0.018 * head) for head in range(24)})  # from 0.2 to 0.61
    assert 0 < len(raised(near, "first-token sink")) < 24
    assert unusual_by(near) == {}
    assert unusual_by(resting({3: (0, 0.8)}))["first-token sink"] == [3]


def test_a_small_difference_between_nearly_equal_heads_is_none() -> None:
    """Far by its z, but the first token gets less than any threshold."""
    measures = resting({3: (0, 0.15)})
    assert FLAGS["first-token sink"].distance(measures["first_attention"])[0, 3] > OUTLIER
    assert unusual_by(measures) == {}


def test_heads_from_one_distribution_are_not_unusual() -> None:
    trace = random_trace(1)
    table = anomaly_table(trace)
    assert list(table["flags"]) == [""] * 12
    assert list(table["unusual"]) == [0.0] * 12
    assert flagged(table).empty
    keys = trace.kv_keys.copy()
    keys /= 16  # all heads alike: nothing tells one from the others
    table = anomaly_table(replace(trace, kv_keys=keys))
    assert (table["flags"] != "").all()
    assert (table["unusual_by"] == "").all()
    assert table["unusual"].max() < OUTLIER


def test_few_heads_of_the_embedded_model_stand_out_though_most_have_a_flag() -> None:
    model = load("bundled/minilm")
    similar = query_key.weight_similarity(model)
    for text in ("Oh, this book? I've enjoyed it.", "My friend told me about this class today."):
        trace = trace_text(model, text)
        norms = output_projection.transformed_norms(model, trace)
        table = anomaly_table(trace, norms, similar)
        if not table.attrs["too_short"]:
            assert (table["flags"] != "").sum() > 20
        out = table["unusual_by"] != ""
        assert 1 <= out.sum() <= 7
        assert (out == (table["unusual"] >= OUTLIER)).all()
