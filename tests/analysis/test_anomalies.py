"""What is odd about a head, against numbers worked out by hand and against literal loops."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from core.analysis.anomalies import (
    anomaly_table,
    as_map,
    corpus_table,
    flagged,
    measure_heads,
    rows_of,
)
from core.analysis.anomalies.contribution import (
    columns,
    moved,
    null_score,
    stable_rank,
    without_first,
)
from core.analysis.anomalies.flags import RULES, null_attention_in_words, robust_z
from core.analysis.anomalies.massive import hidden_states
from core.analysis.anomalies.norms import norm_disparity, separability
from core.analysis.head_patterns.measure import mean_relative_entropy
from core.model.trace import Array, Layer, Token, Trace
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

if TYPE_CHECKING:
    from collections.abc import Mapping

SINK = np.array(
    [[[[0.5, 0.25, 0.25], [0.75, 0.25, 0.0], [1.0, 0.0, 0.0]]]], dtype=np.float32
)  # one layer, one head, three tokens; the first column holds 0.75 of the attention


def with_values(trace: Trace, lengths: list[float]) -> Trace:
    """The same attention, with values of these lengths along one direction, in every head."""
    values = np.zeros((*trace.shape[:3], 4), dtype=np.float32)
    values[..., 0] = lengths
    return replace(trace, kv_values=values)


def causal(trace: Trace) -> Trace:
    size = trace.shape[2]
    mask = np.where(np.tri(size, dtype=bool), 0, -np.inf).astype(np.float32)
    return replace(trace, layers=(Layer(1.0, mask),) * trace.shape[0], causal=True)


def random_trace(
    seed: int, layers: int = 3, heads: int = 4, size: int = 12, dim: int = 16
) -> Trace:
    """Queries, keys and values drawn alike for every head."""
    q, k, v = (
        np.random.default_rng(seed).normal(size=(3, layers, heads, size, dim)).astype(np.float32)
    )
    names = plain_tokens(*(f"t{i}" for i in range(size)))
    rules = (Layer(dim**-0.5, None),) * layers
    return Trace("by hand", names, q, k, v, rules, causal=False)


def attention_flags(one: pd.Series) -> set[str]:
    """Its flags but for those of queries and keys: traces made from attention have odd ones."""
    return set(one["flags"].split(", ")) - {"norm disparity", "clouds apart", ""}


def row(table: pd.DataFrame, layer: int, head: int) -> pd.Series:
    return table[(table["layer"] == layer) & (table["head"] == head)].iloc[0]


# ---- the first token and what it carries -------------------------------------------------------


def test_attention_and_contribution_of_the_first_token_are_worked_out_by_hand() -> None:
    trace = with_values(trace_with_attention(SINK), [1, 3, 3])
    table = anomaly_table(trace)
    # The first moves 0.5 + 0.75 + 1; the second, three times as long, 0.75 + 0.75; the third 0.75.
    expected = 2.25 / (2.25 + 1.5 + 0.75)
    assert table["first_attention"][0] == pytest.approx(0.75, abs=1e-6)
    assert table["first_uniform"][0] == pytest.approx(1 / 3)
    assert table["first_contribution"][0] == pytest.approx(expected, abs=1e-6)
    assert table["first_value"][0] == pytest.approx(1 / 3)
    assert table.attrs["values"] == "|v|"


def test_lengths_through_the_output_projection_take_the_place_of_the_values_own() -> None:
    trace = with_values(trace_with_attention(SINK), [1, 3, 3])
    table = anomaly_table(trace, transformed=np.ones((1, 1, 3), dtype=np.float32))
    assert table["first_contribution"][0] == pytest.approx(0.75, abs=1e-6)
    assert table.attrs["values"] == "|f(v)|"


def test_an_even_causal_head_gives_the_first_token_the_mean_of_one_over_i() -> None:
    size = 5
    weights = np.tri(size, dtype=np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    table = anomaly_table(causal(trace_with_attention(weights[None, None])))
    expected = sum(1 / (i + 1) for i in range(size)) / size
    assert table["first_uniform"][0] == pytest.approx(expected)
    assert table["first_attention"][0] == pytest.approx(expected, abs=1e-6)
    assert table["entropy"][0] == pytest.approx(1, abs=1e-6)
    assert attention_flags(table.iloc[0]) == set()


def test_the_strongest_column_is_named_by_its_place_and_its_token() -> None:
    weights = np.full((1, 1, 12, 12), 0.2 / 11, dtype=np.float32)
    weights[..., 5] = 0.8
    tokens = tuple(token(name, i, i) for i, name in enumerate("abcde.ghijkl"))
    trace = with_values(trace_with_attention(weights, tokens), [2.0] * 5 + [0.5] + [2.0] * 6)
    one = anomaly_table(trace).iloc[0]
    assert (one["sink"], one["sink_token"]) == (6, ".")
    assert one["sink_attention"] == pytest.approx(0.8, abs=1e-6)
    assert one["sink_contribution"] == pytest.approx(0.8 * 0.5 / (0.8 * 0.5 + 0.2 * 2), abs=1e-6)
    assert one["sink_value"] == pytest.approx(0.25)
    # Only this token is shorter than the median: it moves a quarter of what it is given.
    assert one["null_attention"] == pytest.approx(0.8 * 0.75, abs=1e-6)
    assert attention_flags(one) == {"column sink", "null attention"}
    assert "0.80 of its attention rests on token 6 (an even head: 0.08)" in one["reasons"]


def test_short_texts_are_no_sinks_since_an_even_head_would_do_the_same() -> None:
    halves = np.array([[[[1, 0], [0.6, 0.4]]]], dtype=np.float32)
    table = anomaly_table(causal(trace_with_attention(halves)))
    assert table["first_attention"][0] == pytest.approx(0.8)
    assert "sink" not in table["flags"][0]


def test_contributions_agree_with_a_loop_over_pairs() -> None:
    trace = random_trace(3)
    found = columns(trace)
    layer, head, size = 2, 1, trace.shape[2]
    weights, values = trace.attention(layer, head), trace.kv_values[layer, head]
    shares = np.zeros(size)
    for i in range(size):
        for j in range(size):
            shares[j] += np.linalg.norm(weights[i, j] * values[j])
    shares /= shares.sum()
    np.testing.assert_allclose(found.contribution[layer, head], shares, atol=1e-6)
    assert found.contribution.sum(axis=-1) == pytest.approx(1, abs=1e-5)


def test_what_is_moved_adds_up_to_what_attention_does_and_an_empty_row_stays_empty() -> None:
    weights = np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(moved(weights, np.array([0.0, 3.0])), [[0, 0], [0, 2]])
    np.testing.assert_array_equal(moved(weights, np.array([2.0, 2.0])), weights)
    np.testing.assert_array_equal(moved(weights, np.zeros(2)), np.zeros((2, 2)))


def test_null_attention_is_the_mass_on_values_shorter_than_the_median() -> None:
    attention = np.array([0.5, 0.3, 0.2])
    assert null_score(attention, np.array([0.0, 1.0, 2.0])) == pytest.approx(0.5)
    assert null_score(attention, np.array([1.0, 1.0, 1.0])) == 0
    assert null_score(attention, np.zeros(3)) == pytest.approx(1)


def test_without_the_first_token_rows_are_what_is_left_of_them() -> None:
    left = without_first(SINK[0, 0])
    np.testing.assert_allclose(left, [[1, 0], [0, 0]])
    np.testing.assert_allclose(
        without_first(np.array([[0.5, 0.3, 0.2]] * 3, dtype=np.float32)), [[0.6, 0.4]] * 2
    )


# ---- rank and entropy --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_agrees_with_singular_values(seed: int) -> None:
    weights = random_weights(seed, 1, 6, 20)[0]
    singular = np.linalg.svd(weights.astype(np.float64), compute_uv=False)
    expected = (singular**2).sum(axis=-1) / singular[:, 0] ** 2
    np.testing.assert_allclose(stable_rank(weights), expected, rtol=1e-3)


def test_the_rank_is_one_where_all_attend_alike_and_n_where_each_attends_to_itself() -> None:
    alike = np.tile(np.array([0.1, 0.2, 0.7], dtype=np.float32), (3, 1))
    np.testing.assert_allclose(
        stable_rank(np.stack([alike, np.eye(3, dtype=np.float32)])), [1, 3], rtol=1e-5
    )


def test_entropy_counts_only_keys_that_are_permitted() -> None:
    weights = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]], dtype=np.float32)
    allowed = np.tri(3, dtype=bool)[None]
    expected = (1 + math.log(2) / math.log(3)) / 2  # the first row has no choice
    assert mean_relative_entropy(weights, allowed)[0] == pytest.approx(expected, abs=1e-6)
    assert np.isnan(
        mean_relative_entropy(np.ones((1, 1, 1), np.float32), np.ones((1, 1, 1), bool))[0]
    )


# ---- norms and clouds --------------------------------------------------------------------------


def test_norms_are_compared_by_mean_and_by_median() -> None:
    trace = random_trace(0, layers=1, heads=1, size=3, dim=2)
    queries = np.array([[[[3, 4], [0, 5], [0, 20]]]], dtype=np.float32)  # 5, 5, 20
    keys = np.array([[[[1, 0], [0, 2.5], [0, 4]]]], dtype=np.float32)  # 1, 2.5, 4
    found = norm_disparity(replace(trace, queries=queries, kv_keys=keys))
    assert found.query[0, 0] == pytest.approx(10)
    assert found.key[0, 0] == pytest.approx(2.5)
    assert found.difference[0, 0] == pytest.approx(7.5)
    assert found.log_ratio[0, 0] == pytest.approx(1)
    # Centroids (1, 29 / 3) and (1 / 3, 6.5 / 3).
    assert found.apart[0, 0] == pytest.approx(math.hypot(2 / 3, 7.5), rel=1e-6)
    assert found.apart_after[0, 0] == pytest.approx(0, abs=1e-5)


def test_clouds_of_one_kind_cannot_be_told_apart_and_a_shift_does_not_help() -> None:
    trace = random_trace(1, size=120)
    shifted = replace(trace, kv_keys=trace.kv_keys + np.float32(50))
    for each in (trace, shifted):
        assert separability(each) == pytest.approx(0.5, abs=0.12)


def test_a_cloud_inside_the_other_can_be_told_apart_after_translation() -> None:
    trace = random_trace(1, size=60)
    keys = trace.kv_keys.copy()
    keys[1, 2] *= 0.1
    found = separability(replace(trace, kv_keys=keys))
    assert found[1, 2] > 0.95
    others = np.delete(found.ravel(), 1 * 4 + 2)
    assert others.max() < 0.75


def test_separability_agrees_with_leaving_each_token_out_in_a_loop() -> None:
    trace = random_trace(7, layers=1, heads=1, size=7, dim=3)
    q, k = (x[0, 0].astype(np.float64) for x in (trace.queries, trace.keys))

    def distance(points: Array, place: Array) -> float:
        between = np.linalg.norm(points - place, axis=1).mean()
        gaps = [
            float(np.linalg.norm(a - b))
            for i, a in enumerate(points)
            for j, b in enumerate(points)
            if i != j
        ]
        return float(between - np.mean(gaps) / 2)

    right = 0
    for i in range(7):
        a, b = np.delete(q, i, axis=0), np.delete(k, i, axis=0)
        b = b + (a.mean(axis=0) - b.mean(axis=0))
        shift = np.delete(q, i, axis=0).mean(axis=0) - np.delete(k, i, axis=0).mean(axis=0)
        right += distance(a, q[i]) < distance(b, q[i])
        right += distance(b, k[i] + shift) < distance(a, k[i] + shift)
    assert separability(trace)[0, 0] == pytest.approx(right / 14)


def test_two_tokens_are_too_few_to_tell_clouds_apart() -> None:
    assert np.isnan(separability(random_trace(0, size=2))).all()


# ---- z-scores and flags ------------------------------------------------------------------------


def test_robust_z_is_the_distance_from_the_median_in_robust_standard_deviations() -> None:
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 103.0]])
    # Median 3.5; deviations 2.5 1.5 0.5 0.5 1.5 99.5, their median 1.5.
    expected = 0.6745 * (values - 3.5) / 1.5
    np.testing.assert_allclose(robust_z(values), expected)


def test_where_most_heads_are_equal_the_mean_deviation_takes_the_place_of_the_median() -> None:
    values = np.array([[0.0, 0.0, 0.0, 0.0, 10.0]])
    np.testing.assert_allclose(robust_z(values), [[0, 0, 0, 0, 10 / (1.253314 * 2)]])
    np.testing.assert_array_equal(robust_z(np.full((2, 2), 7.0)), np.zeros((2, 2)))


def test_unknown_values_do_not_count_and_stay_unknown() -> None:
    found = robust_z(np.array([[1.0, np.nan, 3.0, 2.0]]))
    np.testing.assert_allclose(found, [[-0.6745, np.nan, 0.6745, 0]])
    assert np.isnan(robust_z(np.full((1, 2), np.nan))).all()


@pytest.mark.parametrize("seed", range(6))
def test_heads_drawn_alike_have_no_flag(seed: int) -> None:
    table = anomaly_table(random_trace(seed))
    assert list(table["flags"]) == [""] * 12
    assert list(table["severity"]) == [0.0] * 12
    assert flagged(table).empty


@pytest.mark.parametrize("seed", range(3))
def test_queries_ten_times_longer_are_found_by_name_and_number(seed: int) -> None:
    trace = random_trace(seed)
    queries, keys = trace.queries.copy(), trace.kv_keys.copy()
    queries[1, 2] *= 10 * np.median(np.linalg.norm(keys[1, 2], axis=1))
    queries[1, 2] /= np.median(np.linalg.norm(trace.queries[1, 2], axis=1))
    table = anomaly_table(replace(trace, queries=queries))
    odd = row(table, 2, 3)
    assert "norm disparity" in odd["flags"]
    assert odd["norm_log_ratio"] == pytest.approx(math.log2(10), abs=1e-5)
    assert odd["z_norm_log_ratio"] > 3.5
    assert "the median query is 10.0 times as long as the median key" in odd["reasons"]
    assert odd["severity"] >= math.log2(10) / 2 - 1e-6
    assert list(table[table["flags"].str.contains("norm disparity")].index) == [6]


@pytest.mark.parametrize("seed", range(3))
def test_a_first_token_without_value_is_found_also_where_attention_is_even(seed: int) -> None:
    trace = random_trace(seed)
    values = trace.kv_values.copy()
    values[0, 3, 0] = 0
    table = anomaly_table(replace(trace, kv_values=values))
    odd = row(table, 1, 4)
    assert odd["flags"] == "empty value"
    assert (odd["first_value"], odd["first_contribution"]) == (0, 0)
    assert list(flagged(table).index) == [3]


def test_attention_to_a_first_token_without_value_is_null() -> None:
    weights = random_weights(2, 2, 3, 14)
    weights[1, 0] *= 0.4
    weights[1, 0, :, 0] += 0.6
    sink = float(weights[1, 0, :, 0].mean())
    values = [1.0] * 14
    plain = with_values(trace_with_attention(weights), values)
    lengths = plain.kv_values.copy()
    lengths[1, 0, 0] = 0
    odd = row(anomaly_table(replace(plain, kv_values=lengths)), 2, 1)
    assert attention_flags(odd) == {"first-token sink", "null attention"}
    assert odd["null_attention"] == pytest.approx(sink, abs=1e-5)
    assert odd["first_contribution"] == 0
    assert f"{sink:.2f} of its attention moves next to nothing" in odd["reasons"]
    without = row(anomaly_table(plain), 2, 1)
    assert attention_flags(without) == {"first-token sink"}
    assert without["null_attention"] == 0


def test_a_head_that_looks_at_one_key_each_is_an_entropy_collapse_of_full_rank() -> None:
    weights = random_weights(4, 1, 4, 14)
    weights[0, 2] = np.roll(np.eye(14), 5, axis=1)
    table = anomaly_table(trace_with_attention(weights))
    odd = row(table, 1, 3)
    assert attention_flags(odd) == {"entropy collapse"}
    assert odd["entropy"] == pytest.approx(0, abs=1e-6)
    assert odd["rank"] == pytest.approx(14, rel=1e-4)
    assert list(table[table["flags"].str.contains("entropy")].index) == [2]


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_one_key_each_is_no_collapse_where_it_is_the_previous_the_next_or_the_own_token(
    offset: int,
) -> None:
    weights = random_weights(4, 1, 4, 14)
    weights[0, 2] = 0
    weights[0, 2][np.eye(14, k=offset, dtype=bool)] = 1
    weights[0, 2][weights[0, 2].sum(axis=1) == 0, 0] = 1  # the token that has no such neighbour
    odd = row(anomaly_table(trace_with_attention(weights)), 1, 3)
    assert odd["entropy"] == pytest.approx(0, abs=1e-6)
    assert odd["offset_attention"] == pytest.approx(1, abs=1e-6)
    assert attention_flags(odd) == set()


def test_alike_weights_are_flagged_from_what_the_model_tells() -> None:
    trace = random_trace(0)
    similarity = np.zeros(trace.shape[:2], dtype=np.float32)
    similarity[2, 1] = 0.94
    odd = row(anomaly_table(trace, similarity=similarity), 3, 2)
    assert odd["flags"] == "alike weights"
    assert "correlate at +0.94" in odd["reasons"]
    assert anomaly_table(trace)["weight_similarity"].isna().all()


def test_a_head_is_odd_when_it_is_unlike_the_others_even_below_the_threshold() -> None:
    trace = random_trace(0, size=20)
    keys = trace.kv_keys.copy()
    keys[1, 1] /= 3  # queries three times as long: below four times, but no other head is near
    table = anomaly_table(replace(trace, kv_keys=keys))
    odd = row(table, 2, 2)
    assert abs(odd["norm_log_ratio"]) < 2
    assert odd["z_norm_log_ratio"] > 3.5
    assert "norm disparity" in odd["flags"]


def test_flagged_heads_are_sorted_by_severity() -> None:
    trace = random_trace(0, size=20)
    keys = trace.kv_keys.copy()
    keys[1, 1] /= 8
    keys[0, 2] /= 64
    found = flagged(anomaly_table(replace(trace, kv_keys=keys)))
    assert list(zip(found["layer"], found["head"], strict=True))[:2] == [(1, 3), (2, 2)]
    assert found["severity"].is_monotonic_decreasing


def test_the_table_has_a_row_a_head_in_order_and_a_z_for_every_rule() -> None:
    table = anomaly_table(random_trace(0, layers=2, heads=3))
    assert list(zip(table["layer"], table["head"], strict=True)) == [
        (layer, head) for layer in (1, 2) for head in (1, 2, 3)
    ]
    assert {f"z_{each.measure}" for each in RULES} <= set(table.columns)
    np.testing.assert_array_equal(as_map(table, "layer"), [[1, 1, 1], [2, 2, 2]])


@pytest.mark.parametrize("size", [1, 2])
def test_the_shortest_texts_have_a_table(size: int) -> None:
    trace = random_trace(0, size=size)
    table = anomaly_table(causal(trace))
    assert len(table) == 12
    assert not table["flags"].str.contains("sink|entropy|clouds").any()


# ---- hidden states -----------------------------------------------------------------------------


def test_a_massive_activation_is_beyond_100_and_1000_times_the_median() -> None:
    states = np.full((2, 5, 400), 0.1, dtype=np.float32)
    states[1, 0, 7] = -150
    states[1, 3, 9] = 90
    found = hidden_states(replace(random_trace(0, size=5), hidden_states=states))
    assert found is not None
    np.testing.assert_array_equal(np.argwhere(found.massive), [[1, 0]])
    np.testing.assert_array_equal(np.argwhere(found.long), [[1, 0], [1, 3]])
    assert found.largest[1, 0] == 150
    assert found.norms[0] == pytest.approx(2)  # 0.1 times the root of 400
    assert found.relative[1, 0] == pytest.approx(math.hypot(150, 0.1 * math.sqrt(399)) / 2)


def test_a_model_that_tells_no_hidden_states_has_none() -> None:
    assert hidden_states(random_trace(0)) is None


# ---- many texts ---------------------------------------------------------------------------------


def test_a_corpus_is_the_mean_over_its_tokens() -> None:
    texts = [
        measure_heads(
            with_values(trace_with_attention(random_weights(size, 2, 3, size)), [1.0] * size)
        )
        for size in (9, 12, 20)
    ]
    texts[1]["entropy"][0, 0] = np.nan  # where a text has no such number, the others make it
    table = corpus_table(texts, exact=False)
    for name in ("query_norm", "first_attention", "null_attention", "entropy", "rank"):
        for number, (layer, head) in enumerate(np.ndindex(2, 3)):
            pairs = [(text[name][layer, head], text["tokens"][layer, head]) for text in texts]
            known = [(value, weight) for value, weight in pairs if not math.isnan(value)]
            expected = sum(v * w for v, w in known) / sum(w for _, w in known)
            assert table[name].iloc[number] == pytest.approx(expected)
    assert table.attrs["values"] == "|v|"


def sentence(words: str) -> tuple[Token, ...]:
    """These words between [CLS] and [SEP]."""
    names = ["[CLS]", *words.split(), "[SEP]"]
    special = {0, len(names) - 1}
    return tuple(token(name, i, i, special=i in special) for i, name in enumerate(names))


def with_columns(tokens: tuple[Token, ...], masses: Mapping[int, float]) -> Trace:
    """One head, all of whose rows give these positions so much and share the rest evenly."""
    size = len(tokens)
    row = np.full(size, (1 - sum(masses.values())) / (size - len(masses)))
    row[list(masses)] = list(masses.values())
    weights = np.tile(row, (1, 1, size, 1)).astype(np.float32)
    return with_values(trace_with_attention(weights, tokens), [1.0] * size)


def test_the_sink_of_a_corpus_is_measured_at_the_place_that_is_named() -> None:
    # [SEP] takes 0.9 wherever it stands; position 9 is [SEP] in two texts of three, a word in one.
    texts = [
        sentence("a b c d e f g"),
        sentence("a b c d e f g"),
        sentence("a b c d e f g h i j k"),
    ]
    measured = [measure_heads(with_columns(each, {len(each) - 1: 0.9})) for each in texts]
    table = corpus_table(measured, exact=True, separators=["[SEP]"])
    assert "sink" not in table
    assert table["sink_token"].tolist() == ["[SEP]"]
    assert table["sink_attention"][0] == pytest.approx(0.9)
    assert table["sink_uniform"][0] == pytest.approx((9 / 9 + 9 / 9 + 13 / 13) / (9 + 9 + 13))
    long = [measure_heads(with_columns(sentence("a " * 14), {15: 0.9}))]
    flagged_one = corpus_table(long, exact=True, separators=["[SEP]"]).iloc[0]
    assert "0.90 of its attention rests on [SEP] (an even head: 0.06)" in flagged_one["reasons"]


def test_what_texts_of_a_corpus_give_one_position_is_no_sink() -> None:
    # The fourth token is a word of its own in every text: nothing that the texts have in common.
    texts = [sentence("a b c d e f g h i j"), sentence("a b c d e f g h i j k l m")]
    measured = [measure_heads(with_columns(each, {3: 0.9})) for each in texts]
    table = corpus_table(measured, exact=True)
    assert table["sink_attention"][0] < 0.05
    assert "sink" not in table["flags"][0]


def test_commas_and_full_stops_are_one_sink_of_a_corpus_and_the_first_token_another() -> None:
    texts = [sentence("a , b c d e f g h ."), sentence("a b , c d , e f g h i .")]
    marks = [[i for i, each in enumerate(text) if each.text in ",."] for text in texts]
    measured = [
        measure_heads(with_columns(text, dict.fromkeys(here, 0.8 / len(here))))
        for text, here in zip(texts, marks, strict=True)
    ]
    table = corpus_table(measured, exact=True)
    assert table["sink_token"].tolist() == ["full stops and commas"]
    assert table["sink_attention"][0] == pytest.approx(0.8)
    first = [measure_heads(with_columns(text, {0: 0.9})) for text in texts]
    table = corpus_table(first, exact=True)
    assert table["sink_token"].tolist() == ["the first token"]
    assert not table["flags"].str.contains("column sink").any()
    with pytest.raises(ValueError, match="no text"):
        corpus_table([], exact=True)


def test_a_role_that_few_texts_of_a_corpus_have_is_not_named() -> None:
    plain, marked = sentence("a b c d e f g h i j"), sentence("a , b c d e f g h i")
    texts = [(plain, 10), (plain, 10), (marked, 2)]  # one text of three has a comma, its sink
    measured = [measure_heads(with_columns(text, {at: 0.9})) for text, at in texts]
    assert corpus_table(measured, exact=True)["sink_token"].tolist() == [
        "the last token of the text"
    ]
    often = [measured[0], measured[2], measured[2]]
    assert corpus_table(often, exact=True)["sink_token"].tolist() == ["full stops and commas"]


def test_a_corpus_of_one_text_is_that_text_but_for_the_name_of_its_sink() -> None:
    trace = trace_with_attention(random_weights(4, 2, 2, 10))
    one, many = anomaly_table(trace), corpus_table([measure_heads(trace)], exact=False)
    alike = [name for name in one if "sink" not in str(name) and name not in {"flags", "reasons"}]
    pd.testing.assert_frame_equal(one[alike], many[alike], check_exact=False)


# ---- what is said -------------------------------------------------------------------------------


def test_a_sink_and_the_low_entropy_that_it_makes_count_once() -> None:
    weights = random_weights(4, 1, 4, 14)
    weights[0, 2] = 0.001 / 13
    weights[0, 2, :, 0] = 0.999
    odd = row(anomaly_table(with_values(trace_with_attention(weights), [1.0] * 14)), 1, 3)
    assert attention_flags(odd) == {"first-token sink", "entropy collapse"}
    assert odd["severity_attention"] == pytest.approx(0.999 / 0.5, abs=1e-4)
    assert odd["severity"] == pytest.approx(odd["severity_attention"] + odd["severity_space"])


def test_longer_queries_are_apart_from_keys_and_count_once() -> None:
    trace = random_trace(0, size=30)
    queries = trace.queries.copy()
    queries[1, 2] *= 10
    odd = row(anomaly_table(replace(trace, queries=queries)), 2, 3)
    assert {"norm disparity", "clouds apart"} <= set(odd["flags"].split(", "))
    assert odd["separability"] > 0.95
    assert odd["severity_space"] == pytest.approx(abs(odd["norm_log_ratio"]) / 2)


def test_what_c_changes_leaves_attention_and_its_severity_alone() -> None:
    trace = random_trace(0, size=30)
    queries, keys = trace.queries.copy(), trace.kv_keys.copy()
    queries[1, 2] *= 8
    keys[1, 2] /= 8
    plain, scaled = (
        anomaly_table(trace),
        anomaly_table(replace(trace, queries=queries, kv_keys=keys)),
    )
    assert row(scaled, 2, 3)["severity_space"] > 0
    assert row(plain, 2, 3)["severity_space"] == 0
    for name in ("first_attention", "sink_attention", "entropy", "null_attention"):
        np.testing.assert_allclose(plain[name], scaled[name], atol=1e-5)
    np.testing.assert_allclose(plain["severity_attention"], scaled["severity_attention"])


@pytest.mark.parametrize(("length", "empty"), [(0.5, False), (0.11, False), (0.09, True)])
def test_only_values_under_a_tenth_of_the_median_are_said_to_move_next_to_nothing(
    length: float, empty: bool
) -> None:
    tokens = plain_tokens(*"abcdefghijklmn")
    weights = with_columns(tokens, {3: 0.95})
    values = [1.0] * 14
    values[3] = length
    one = rows_of(anomaly_table(with_values(weights, values)))[0]
    null = 0.95 * (1 - length)
    assert ("null attention" in one["flags"].split(", ")) is (null >= 0.5)
    assert one["null_attention"] == pytest.approx(null, abs=1e-5)
    assert one["empty_attention"] == pytest.approx(0.95 if empty else 0, abs=1e-5)
    said = null_attention_in_words(one)
    assert f"the values that it attends to average {1 - null:.2f} of the head's median" in said
    assert ("0.95 of its attention moves next to nothing" in said) is empty
    assert ("next to nothing" in said) is empty


def test_under_twelve_tokens_only_what_no_text_decides_is_flagged() -> None:
    def odd(size: int) -> tuple[set[str], bool]:
        trace = random_trace(0, size=size)
        keys, values = trace.kv_keys.copy(), trace.kv_values.copy()
        keys[0, 0] *= 20
        values[0, 0, 0] = 0
        similarity = np.zeros(trace.shape[:2], dtype=np.float32)
        similarity[0, 0] = 0.9
        table = anomaly_table(replace(trace, kv_keys=keys, kv_values=values), similarity=similarity)
        return set(", ".join(table["flags"]).split(", ")) - {""}, table.attrs["too_short"]

    assert odd(11) == ({"alike weights"}, True)
    found, too_short = odd(12)
    assert {"norm disparity", "alike weights", "empty value"} <= found
    assert not too_short
