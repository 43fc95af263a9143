"""The anomaly table against NumPy and SciPy, and heads that are odd in one way, planted by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from core.analysis.anomalies import FLAGS, anomaly_table, corpus_table, flagged, measure_heads
from core.analysis.anomalies.contribution import contributions, null_attention, without_first
from core.analysis.anomalies.flags import distances
from core.analysis.anomalies.massive import hidden_state_sizes
from core.analysis.anomalies.measures import Measures
from core.analysis.statistics import OUTLIER, robust_z
from core.model import load, trace_text
from core.model.trace import Trace
from core.model.weights import output_projection, query_key
from tests.analysis.pictures import picture, with_attention
from tests.analysis.traces import (
    causal,
    crossing,
    random_trace,
    random_weights,
    spelled,
    token,
    trace_with_attention,
    with_values,
)

WORDS = spelled("[CLS] so he said it and then she ran on , too . [SEP]")
QUERIES = tuple(each.text for each in WORDS)
KEYS = ("[CLS]", "the", "dog", ",", "it", "runs", ".", "[SEP]")
CROSS = crossing(5, 3, queries=QUERIES, keys=KEYS)
OWN = causal(random_trace(5, 2, 3, 14))
PARTS = ("attention", "uniform", "contribution", "value")


@pytest.mark.parametrize("which", ["|v|", "|f(v)|"])
@pytest.mark.parametrize("trace", [CROSS, OWN], ids=["cross", "causal"])
def test_what_each_key_takes_and_gives_is_summed_over_queries(trace: Trace, which: str) -> None:
    norms = np.linalg.norm(trace.values, axis=-1)
    if which == "|f(v)|":
        norms = np.random.default_rng(1).uniform(0, 2, norms.shape).astype(np.float32)
    table = anomaly_table(trace, norms if which == "|f(v)|" else None)
    assert table.attrs["values"] == which
    assert table.attrs["tokens"] == 14
    assert {f"z_{flag.measure}" for flag in FLAGS.values()} <= set(table.columns)
    across = trace.source is not None
    allowed = np.ones((14, 8), bool) if across else np.tri(14) > 0
    counts = allowed.sum(axis=1)
    for number, place in enumerate(np.ndindex(2, 3)):
        row, weights = table.iloc[number], trace.attention(*place)
        assert (row["layer"] - 1, row["head"] - 1) == place
        taken, moved = weights.mean(axis=0), weights.sum(axis=0) * norms[place]
        uniform = (allowed / counts[:, None]).mean(axis=0)
        relative = norms[place] / np.median(norms[place])
        columns = taken, uniform, moved / moved.sum(), relative
        sink = int(taken.argmax())
        for name, position in (("first", 0), ("sink", sink)):
            expected = [each[position] for each in columns]
            assert row[[f"{name}_{part}" for part in PARTS]].tolist() == pytest.approx(expected)
        assert (row["sink"], row["sink_token"]) == (sink + 1, trace.key_tokens[sink].display)
        assert row["null_attention"] == pytest.approx(taken[relative < 0.1].sum())
        relative_entropy = entropy(weights, axis=1)[counts > 1] / np.log(counts[counts > 1])
        assert row["entropy"] == pytest.approx(relative_entropy.mean(), rel=1e-5)
        beside = [weights.diagonal(-1).mean(), weights.diagonal().mean()]  # of no later token
        largest = math.nan if across else max(beside)
        assert row["offset_attention"] == pytest.approx(largest, nan_ok=True)
        q, k = (np.linalg.norm(each[place], axis=-1) for each in (trace.queries, trace.keys))
        lengths = q.mean(), k.mean(), q.mean() - k.mean(), np.log2(np.median(q) / np.median(k))
        names = ["query_norm", "key_norm", "norm_difference", "norm_log_ratio"]
        assert row[names].tolist() == pytest.approx(lengths, abs=1e-5)


def test_the_strongest_column_is_named_by_its_token_or_its_place_in_the_image() -> None:
    weights = np.full((1, 1, 13, 13), 0.2 / 12, dtype=np.float32)
    weights[..., 7] = 0.8  # after [CLS], the seventh of 3 x 4 patches
    patches = picture(np.random.default_rng(0).random((3, 4, 3)))
    tokens = tuple(token(name, i, i) for i, name in enumerate("abcdefg.hijkl"))
    of_text = with_values(trace_with_attention(weights, tokens), [2.0] * 7 + [0.1] + [2.0] * 5)
    row, of_image = (
        anomaly_table(each).iloc[0] for each in (of_text, with_attention(patches, weights))
    )
    assert (row["sink"], row["sink_token"]) == (8, ".")
    assert {"column sink", "null attention"} <= set(row["flags"].split(", "))
    assert "0.80 of its attention rests on token 8 (uniform baseline: 0.08)" in row["reasons"]
    assert "column sink" in of_image["flags"]
    assert "0.80 of its attention rests on patch r2c3 (uniform" in of_image["reasons"]
    assert "token" not in of_image["reasons"]


def test_flagged_heads_are_sorted_by_how_unusual_they_are() -> None:
    trace = random_trace(0, size=20)
    keys = trace.kv_keys.copy()
    keys[1, 1] /= 8
    keys[0, 2] /= 64
    odd = flagged(anomaly_table(replace(trace, kv_keys=keys)))
    assert list(odd.index)[:2] == [2, 5]
    assert odd["unusual"].is_monotonic_decreasing


def test_the_shortest_texts_have_a_table_and_no_flags() -> None:
    """Short by its query tokens."""
    own = [causal(random_trace(0, size=size)) for size in (1, 2)]
    across = [crossing(0, queries=QUERIES[:i], keys=KEYS[:j]) for i, j in ((1, 5), (5, 1), (1, 1))]
    for trace in (*own, *across):
        table = anomaly_table(trace)
        assert not table["flags"].any()
        assert table["sink"].between(1, len(trace.key_tokens)).all()
        assert table.attrs["too_short"]
    assert anomaly_table(crossing(5, 3, queries=KEYS, keys=QUERIES)).attrs["too_short"]
    assert not anomaly_table(CROSS).attrs["too_short"]


def test_a_corpus_is_the_mean_over_its_tokens() -> None:
    texts = [
        measure_heads(trace_with_attention(random_weights(size, 2, 3, size)))
        for size in (9, 12, 20)
    ]
    texts[1]["entropy"][0, 0] = np.nan  # where a text has no such number, the others make it
    table = corpus_table(texts, (1, 2), exact=False)
    for name in ("query_norm", "first_attention", "null_attention", "entropy"):
        values = np.ma.masked_invalid([text[name].ravel() for text in texts])
        expected = np.ma.average(values, axis=0, weights=[9, 12, 20])
        np.testing.assert_allclose(table[name], expected)
    assert table.attrs["values"] == "|v|"
    with pytest.raises(ValueError, match="no text"):
        corpus_table([], (1,), exact=True)


def test_a_corpus_of_one_text_is_that_text_but_has_no_sink() -> None:
    trace = trace_with_attention(random_weights(4, 2, 2, 10))
    one = anomaly_table(trace)
    many = corpus_table([measure_heads(trace)], trace.layer_labels, exact=False)
    assert many[["sink", "sink_attention"]].isna().all(axis=None)
    assert not many["flags"].str.contains("column sink").any()
    same = [name for name in one if "sink" not in str(name) and name not in {"flags", "reasons"}]
    pd.testing.assert_frame_equal(one[same], many[same], check_exact=False)


def test_contributions_sum_to_the_attention_and_an_empty_row_stays_empty() -> None:
    weights = np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(contributions(weights, np.array([0.0, 3.0])), [[0, 0], [0, 2]])
    np.testing.assert_array_equal(contributions(weights, np.array([2.0, 2.0])), weights)
    np.testing.assert_array_equal(contributions(weights, np.zeros(2)), np.zeros((2, 2)))


def test_null_attention_is_all_where_no_value_has_a_length_and_on_the_short_ones_else() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    for norms, mass in (((0, 0, 0), 1), ((0, 0, 1), 0.8), ((0, 1, 2), 0.5), ((1, 1, 1), 0)):
        assert null_attention(weights, np.array(norms)) == pytest.approx(mass)


def test_without_the_first_key_rows_are_divided_by_what_remains() -> None:
    weights = np.array([[0.2, 0.4, 0.4], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    expected = np.array([[0.5, 0.5], [0.6, 0.4], [0, 0]])
    np.testing.assert_allclose(without_first(weights), expected[1:], atol=1e-6)
    np.testing.assert_allclose(without_first(weights, cross=True), expected, atol=1e-6)


def test_a_massive_activation_is_beyond_100_and_1000_times_the_median() -> None:
    values = np.full((2, 5, 400), 0.1, dtype=np.float32)
    values[1, 0, 7], values[1, 3, 9] = -150, 90
    trace = random_trace(0, size=5)
    assert hidden_state_sizes(trace) is None
    states = hidden_state_sizes(replace(trace, hidden_states=values))
    assert states is not None
    np.testing.assert_array_equal(np.argwhere(states.massive), [[1, 0]])
    assert states.largest[1, 0] == 150
    assert states.norms[0] == pytest.approx(2)  # 0.1 times the root of 400


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


def attention_flags(row: pd.Series) -> set[str]:
    """Its flags without those of queries and keys, which traces made from attention have."""
    return set(row["flags"].split(", ")) - {"norm disparity", ""}


def test_longer_queries_are_found_by_name_and_number_and_as_outliers_below_the_threshold() -> None:
    trace = random_trace(0, size=20)
    for factor in (10, 3):  # under four times, but no other head is near
        queries = trace.queries.copy()
        longer = factor * np.median(np.linalg.norm(trace.kv_keys[1, 2], axis=1))
        queries[1, 2] *= longer / np.median(np.linalg.norm(queries[1, 2], axis=1))
        table = anomaly_table(replace(trace, queries=queries))
        odd = table.iloc[6]
        assert odd["norm_log_ratio"] == pytest.approx(math.log2(factor), abs=1e-5)
        assert odd["z_norm_log_ratio"] > 3.5
        assert f"the median query is {factor}.0 times as long as the median key" in odd["reasons"]
        assert list(table[table["flags"].str.contains("norm disparity")].index) == [6]


def test_a_first_token_without_value_is_found_even_under_uniform_attention() -> None:
    trace = random_trace(0)
    values = trace.kv_values.copy()
    values[0, 3, 0] = 0
    table = anomaly_table(replace(trace, kv_values=values))
    assert table["flags"][3] == "empty value"
    assert (table["first_value"][3], table["first_contribution"][3]) == (0, 0)
    assert list(flagged(table).index) == [3]


def one_key_each(matrix: np.ndarray) -> pd.DataFrame:
    """Four random heads on 14 tokens, the third with this attention."""
    weights = random_weights(4, 1, 4, 14)
    weights[0, 2] = matrix
    return anomaly_table(trace_with_attention(weights))


def test_one_key_each_is_an_entropy_collapse_unless_it_is_the_previous_own_or_next() -> None:
    table = one_key_each(np.roll(np.eye(14), 5, axis=1))
    assert attention_flags(table.iloc[2]) == {"entropy collapse"}
    assert list(table[table["flags"].str.contains("entropy")].index) == [2]
    for offset in (-1, 0, 1):
        matrix = np.eye(14, k=offset)
        matrix[matrix.sum(axis=1) == 0, 0] = 1  # the token that has no such neighbour
        odd = one_key_each(matrix).iloc[2]
        assert odd["entropy"] == pytest.approx(0, abs=1e-6)
        assert odd["offset_attention"] == pytest.approx(1, abs=1e-6)
        assert attention_flags(odd) == set()


def test_in_cross_attention_no_token_is_previous_so_a_narrow_head_is_flagged_anyway() -> None:
    """Query i looks at key i alone (of 8), which would be "itself" if both were one text."""
    vectors = np.zeros((2, 3, 14, 8), dtype=np.float32)
    vectors[1, 2] = 40 * np.eye(8)[np.arange(14) % 8]
    keys = np.broadcast_to(np.eye(8, dtype=np.float32), (2, 3, 8, 8)).copy()
    table = anomaly_table(replace(CROSS, queries=vectors, kv_keys=keys))
    assert table["entropy"].tolist() == pytest.approx([1, 1, 1, 1, 1, 0], abs=1e-4)
    assert table["flags"].str.contains("entropy collapse").tolist() == [False] * 5 + [True]


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
    assert attention_flags(row) == flags


@pytest.mark.parametrize(("length", "share"), [(0.3, 0), (0.11, 0), (0.09, 0.95), (0, 0.95)])
def test_only_values_under_a_tenth_of_the_median_are_nearly_zero(
    length: float, share: float
) -> None:
    weights = np.full((1, 1, 14, 14), 0.05 / 13, dtype=np.float32)
    weights[..., 0] = 0.95
    row = anomaly_table(with_values(trace_with_attention(weights), [length, *[1.0] * 13])).iloc[0]
    null = {"null attention"} if share else set()
    assert attention_flags(row) == {"first-token sink"} | null
    assert row["null_attention"] == pytest.approx(share, abs=1e-5)
    reason = FLAGS["null attention"].explain(row.to_dict())
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
    def flags_on(size: int) -> set[str]:
        trace = random_trace(0, size=size)
        keys, values = trace.kv_keys.copy(), trace.kv_values.copy()
        keys[0, 0] *= 20
        values[0, 0, 0] = 0
        similarity = np.zeros(trace.shape[:2], dtype=np.float32)
        similarity[0, 0] = 0.9
        table = anomaly_table(replace(trace, kv_keys=keys, kv_values=values), similarity=similarity)
        assert table.attrs["too_short"] is (size < 12)
        return set(", ".join(table["flags"]).split(", ")) - {""}

    assert flags_on(11) == {"alike weights"}
    assert {"norm disparity", "alike weights", "empty value"} <= flags_on(12)


def resting(heads: dict[int, tuple[int, float]]) -> Measures:
    """One layer of 24 random heads; each of `heads` gives a column so much of every row."""
    weights = random_weights(7, 1, 24, 14) * 0.2 + 0.8 / 14  # near uniform
    for head, (column, share) in heads.items():
        weights[0, head] *= 1 - share
        weights[0, head, :, column] += share
    trace = with_values(trace_with_attention(weights), [1.0] * 14)
    # Queries and keys that stand for weights have lengths of no meaning.
    return measure_heads(trace) | {"norm_log_ratio": np.zeros((1, 24))}


def unusual_by(measures: Measures) -> dict[str, list[int]]:
    """The heads that are unusual, by flag."""
    found = {name: np.flatnonzero(far >= OUTLIER) for name, far in distances(measures).items()}
    return {name: heads.tolist() for name, heads in found.items() if heads.size}


def test_a_head_is_as_unusual_as_it_is_far_from_the_median_head() -> None:
    measures = resting({20: (6, 0.6)})
    assert unusual_by(measures)["column sink"] == [20]
    z = robust_z(measures["sink_attention"])
    assert distances(measures)["column sink"][0, 20] == pytest.approx(z[0, 20])


def test_one_sink_among_few_is_unusual_where_no_other_comes_near() -> None:
    def sinks(measures: Measures) -> int:
        return int(FLAGS["first-token sink"].raised(measures).sum())

    many = resting(dict.fromkeys(range(16), (0, 0.7)))
    near = resting({head: (0, 0.2 + 0.018 * head) for head in range(24)})  # from 0.2 to 0.61
    assert (sinks(many), unusual_by(many)) == (16, {})
    assert 0 < sinks(near) < 24
    assert unusual_by(near) == {}
    assert unusual_by(resting({3: (0, 0.8)}))["first-token sink"] == [3]
    # Far by its z, but the first token gets less than any threshold.
    little = resting({3: (0, 0.15)})
    assert FLAGS["first-token sink"].distance(little["first_attention"])[0, 3] > OUTLIER
    assert unusual_by(little) == {}


def test_heads_from_one_distribution_are_not_unusual() -> None:
    trace = random_trace(1)
    table = anomaly_table(trace)
    assert list(table["flags"]) == [""] * 12
    assert list(table["unusual"]) == [0.0] * 12
    assert flagged(table).empty
    # All heads odd alike: nothing tells one from the others.
    table = anomaly_table(replace(trace, kv_keys=trace.kv_keys / np.float32(16)))
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
