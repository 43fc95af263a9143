"""The anomaly table of one text and of a corpus, against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.anomalies import FLAGS, anomaly_table, corpus_table, flagged, measure_heads
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import (
    causal,
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
