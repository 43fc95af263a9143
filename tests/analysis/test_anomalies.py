"""The anomaly table of one text and of a corpus, against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.anomalies import FLAGS, anomaly_table, corpus_table, flagged, measure_heads
from core.analysis.anomalies.contribution import (
    contributions,
    null_attention,
    without_first,
)
from core.analysis.anomalies.massive import hidden_states
from core.analysis.anomalies.measures import norm_disparity
from tests.analysis.pictures import picture, with_attention
from tests.analysis.traces import (
    causal,
    crossing,
    random_trace,
    random_weights,
    token,
    trace_with_attention,
    with_values,
)

SINK = np.array(
    [[[[0.5, 0.25, 0.25], [0.75, 0.25, 0.0], [1.0, 0.0, 0.0]]]], dtype=np.float32
)  # one layer, one head, three tokens; the first column holds 0.75 of the attention


def test_attention_and_contribution_of_the_first_token_are_worked_out_by_hand() -> None:
    trace = with_values(trace_with_attention(SINK), [1, 3, 3])
    table = anomaly_table(trace)
    # The first moves 0.5 + 0.75 + 1; the second, three times as long, 0.75 + 0.75; the third 0.75.
    assert table["first_attention"][0] == pytest.approx(0.75, abs=1e-6)
    assert table["first_uniform"][0] == pytest.approx(1 / 3)
    assert table["first_contribution"][0] == pytest.approx(2.25 / (2.25 + 1.5 + 0.75), abs=1e-6)
    assert table["first_value"][0] == pytest.approx(1 / 3)
    assert table.attrs["values"] == "|v|"
    table = anomaly_table(trace, transformed=np.ones((1, 1, 3), dtype=np.float32))
    assert table["first_contribution"][0] == pytest.approx(0.75, abs=1e-6)
    assert table.attrs["values"] == "|f(v)|"


def test_a_strongest_column_that_is_a_patch_is_named_by_its_place_in_the_image() -> None:
    weights = np.full((1, 1, 13, 13), 0.2 / 12, dtype=np.float32)
    weights[..., 7] = 0.8  # after [CLS], the seventh of 3 x 4 patches
    patches = picture(np.random.default_rng(0).random((3, 4, 3)))
    row = anomaly_table(with_attention(patches, weights)).iloc[0]
    assert "column sink" in row["flags"]
    assert "0.80 of its attention rests on patch r2c3 (uniform" in row["reasons"]
    assert "token" not in row["reasons"]


def test_the_strongest_column_is_named_by_its_position_and_its_token() -> None:
    weights = np.full((1, 1, 12, 12), 0.2 / 11, dtype=np.float32)
    weights[..., 5] = 0.8
    tokens = tuple(token(name, i, i) for i, name in enumerate("abcde.ghijkl"))
    trace = with_values(trace_with_attention(weights, tokens), [2.0] * 5 + [0.1] + [2.0] * 6)
    row = anomaly_table(trace).iloc[0]
    assert (row["sink"], row["sink_token"]) == (6, ".")
    assert row["sink_attention"] == pytest.approx(0.8, abs=1e-6)
    assert row["sink_contribution"] == pytest.approx(0.8 * 0.1 / (0.8 * 0.1 + 0.2 * 2), abs=1e-6)
    assert row["sink_value"] == pytest.approx(0.05)
    assert row["null_attention"] == pytest.approx(0.8, abs=1e-6)
    assert {"column sink", "null attention"} <= set(row["flags"].split(", "))
    assert "0.80 of its attention rests on token 6 (uniform baseline: 0.08)" in row["reasons"]


def test_the_table_has_a_row_per_head_in_order_and_a_z_for_every_flag() -> None:
    table = anomaly_table(random_trace(0, layers=2, heads=3))
    assert table["layer"].tolist() == [1, 1, 1, 2, 2, 2]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert {f"z_{flag.measure}" for flag in FLAGS.values()} <= set(table.columns)


def test_flagged_heads_are_sorted_by_how_unusual_they_are() -> None:
    trace = random_trace(0, size=20)
    keys = trace.kv_keys.copy()
    keys[1, 1] /= 8
    keys[0, 2] /= 64
    odd = flagged(anomaly_table(replace(trace, kv_keys=keys)))
    assert list(odd.index)[:2] == [2, 5]
    assert odd["unusual"].is_monotonic_decreasing


@pytest.mark.parametrize("size", [1, 2])
def test_the_shortest_texts_have_a_table_and_no_flags(size: int) -> None:
    table = anomaly_table(causal(random_trace(0, size=size)))
    assert table["flags"].tolist() == [""] * 12
    assert table["first_attention"].between(1 / size, 1).all()


def test_a_corpus_is_the_mean_over_its_tokens() -> None:
    texts = [
        measure_heads(trace_with_attention(random_weights(size, 2, 3, size)))
        for size in (9, 12, 20)
    ]
    texts[1]["entropy"][0, 0] = np.nan  # where a text has no such number, the others make it
    table = corpus_table(texts, (1, 2), exact=False)
    for name in ("query_norm", "first_attention", "null_attention", "entropy"):
        for number, head in enumerate(np.ndindex(2, 3)):
            pairs = [(text[name][head], text["tokens"][head]) for text in texts]
            known = [(value, weight) for value, weight in pairs if not math.isnan(value)]
            expected = sum(v * w for v, w in known) / sum(w for _, w in known)
            assert table[name].iloc[number] == pytest.approx(expected)
    assert table.attrs["values"] == "|v|"
    with pytest.raises(ValueError, match="no text"):
        corpus_table([], (1,), exact=True)


def test_a_corpus_of_one_text_is_that_text_but_has_no_sink() -> None:
    trace = trace_with_attention(random_weights(4, 2, 2, 10))
    one, many = (
        anomaly_table(trace),
        corpus_table([measure_heads(trace)], trace.layer_labels, exact=False),
    )
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


def test_norms_are_compared_by_mean_and_by_median() -> None:
    trace = random_trace(0, layers=1, heads=1, size=3, dim=2)
    queries = np.array([[[[3, 4], [0, 5], [0, 20]]]], dtype=np.float32)  # 5, 5, 20
    keys = np.array([[[[1, 0], [0, 2.5], [0, 4]]]], dtype=np.float32)  # 1, 2.5, 4
    norms = norm_disparity(replace(trace, queries=queries, kv_keys=keys))
    assert [each.item() for each in norms.values()] == pytest.approx([10, 2.5, 7.5, 1], abs=1e-5)


def test_without_the_first_token_rows_are_divided_by_what_remains() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(without_first(weights), np.array([[0.6, 0.4], [0, 0]]))


def test_a_massive_activation_is_beyond_100_and_1000_times_the_median() -> None:
    values = np.full((2, 5, 400), 0.1, dtype=np.float32)
    values[1, 0, 7], values[1, 3, 9] = -150, 90
    trace = random_trace(0, size=5)
    assert hidden_states(trace) is None
    states = hidden_states(replace(trace, hidden_states=values))
    assert states is not None
    np.testing.assert_array_equal(np.argwhere(states.massive), [[1, 0]])
    assert states.largest[1, 0] == 150
    assert states.norms[0] == pytest.approx(2)  # 0.1 times the root of 400


QUERIES = (
    "[CLS]",
    "so",
    "he",
    "said",
    "it",
    "and",
    "then",
    "she",
    "ran",
    "on",
    ",",
    "too",
    ".",
    "[SEP]",
)
KEYS = ("[CLS]", "the", "dog", ",", "it", "runs", ".", "[SEP]")
TRACE = crossing(5, 3, queries=QUERIES, keys=KEYS)
HEADS = list(enumerate(np.ndindex(2, 3)))


@pytest.mark.parametrize("which", ["|v|", "|f(v)|"])
def test_what_each_key_takes_and_gives_is_summed_over_queries(which: str) -> None:
    norms = np.linalg.norm(TRACE.values, axis=-1)
    if which == "|f(v)|":
        norms = np.random.default_rng(1).uniform(0, 2, norms.shape).astype(np.float32)
    table = anomaly_table(TRACE, norms if which == "|f(v)|" else None)
    assert table.attrs["values"] == which
    for number, place in HEADS:
        weights, row = TRACE.attention(*place), table.iloc[number]
        taken = [sum(weights[i, j] for i in range(14)) / 14 for j in range(8)]
        moved = [sum(weights[i, j] * norms[place][j] for i in range(14)) for j in range(8)]
        sink = taken.index(max(taken))
        assert row["first_attention"] == pytest.approx(taken[0], abs=1e-5)
        assert row["first_uniform"] == pytest.approx(1 / 8)
        assert row["first_contribution"] == pytest.approx(moved[0] / sum(moved), abs=1e-5)
        assert (row["sink"], row["sink_token"]) == (sink + 1, KEYS[sink])
        assert row["sink_contribution"] == pytest.approx(moved[sink] / sum(moved), abs=1e-5)
        median = float(np.median(norms[place]))
        empty = [taken[j] for j in range(8) if norms[place][j] < 0.1 * median]
        assert row["null_attention"] == pytest.approx(sum(empty), abs=1e-5)


def test_the_minimum_counts_query_tokens() -> None:
    assert anomaly_table(TRACE).attrs["tokens"] == 14
    assert not anomaly_table(TRACE).attrs["too_short"]
    turned = crossing(5, 3, queries=KEYS, keys=QUERIES)
    assert anomaly_table(turned).attrs["too_short"]


def test_no_token_is_previous_so_a_narrow_head_is_flagged_wherever_it_looks() -> None:
    """Query i looks at key i alone (of 8), which would be "itself" if both were one text."""
    vectors = np.zeros((2, 3, 14, 8), dtype=np.float32)
    vectors[1, 2] = 40 * np.eye(8)[np.arange(14) % 8]
    keys = np.broadcast_to(np.eye(8, dtype=np.float32), (2, 3, 8, 8)).copy()
    table = anomaly_table(replace(TRACE, queries=vectors, kv_keys=keys))
    assert table["offset_attention"].isna().all()
    assert table["entropy"].tolist() == pytest.approx([1, 1, 1, 1, 1, 0], abs=1e-4)
    assert table["flags"].str.contains("entropy collapse").tolist() == [False] * 5 + [True]


def test_without_the_first_key_every_query_stays() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    left = without_first(weights, cross=True)
    np.testing.assert_allclose(left, np.array([[0.6, 0.4], [0, 0]]), atol=1e-6)


@pytest.mark.parametrize(("queries", "keys"), [(1, 5), (5, 1), (1, 1)])
def test_the_shortest_texts_have_a_table(queries: int, keys: int) -> None:
    table = anomaly_table(crossing(0, queries=QUERIES[:queries], keys=KEYS[:keys]))
    assert table["flags"].tolist() == [""] * 4
    assert table["sink"].between(1, keys).all()
