"""What is odd about heads of cross attention, against loops over queries and keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies import anomaly_table
from core.analysis.anomalies.contribution import contributions, without_first
from tests.analysis.traces import crossing

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


def test_contributions_sum_to_the_number_of_queries() -> None:
    weights = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], dtype=np.float32)
    # 0.5, 0.5, 0.75 and 0, 2, 0 are moved, 3.75 in all; scaled to 2 queries.
    expected = np.array([[0.5, 0.5, 0.75], [0, 2, 0]]) * 2 / 3.75
    np.testing.assert_allclose(contributions(weights, np.array([1.0, 2.0, 3.0])), expected)


def test_without_the_first_key_every_query_stays() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    left = without_first(weights, cross=True)
    np.testing.assert_allclose(left, np.array([[0.6, 0.4], [0, 0]]), atol=1e-6)


def test_lengths_of_queries_are_compared_with_those_of_other_tokens_keys() -> None:
    table = anomaly_table(TRACE)
    for number, place in HEADS:
        q = [float(np.sqrt((vector**2).sum())) for vector in TRACE.queries[place]]
        k = [float(np.sqrt((vector**2).sum())) for vector in TRACE.kv_keys[place]]
        row = table.iloc[number]
        assert row["norm_difference"] == pytest.approx(sum(q) / 14 - sum(k) / 8, abs=1e-5)
        middle_q, middle_k = sum(sorted(q)[6:8]) / 2, sum(sorted(k)[3:5]) / 2
        assert row["norm_log_ratio"] == pytest.approx(np.log2(middle_q / middle_k), abs=1e-5)


@pytest.mark.parametrize(("queries", "keys"), [(1, 5), (5, 1), (1, 1)])
def test_the_shortest_texts_have_a_table(queries: int, keys: int) -> None:
    table = anomaly_table(crossing(0, queries=QUERIES[:queries], keys=KEYS[:keys]))
    assert table["flags"].tolist() == [""] * 4
    assert table["sink"].between(1, keys).all()
