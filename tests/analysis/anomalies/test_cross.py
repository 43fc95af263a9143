"""What is odd about heads of cross attention, against loops over queries and keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies import anomaly_table
from core.analysis.anomalies.contribution import without_first
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


def test_without_the_first_key_every_query_stays() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=np.float32)
    left = without_first(weights, cross=True)
    np.testing.assert_allclose(left, np.array([[0.6, 0.4], [0, 0]]), atol=1e-6)


@pytest.mark.parametrize(("queries", "keys"), [(1, 5), (5, 1), (1, 1)])
def test_the_shortest_texts_have_a_table(queries: int, keys: int) -> None:
    table = anomaly_table(crossing(0, queries=QUERIES[:queries], keys=KEYS[:keys]))
    assert table["flags"].tolist() == [""] * 4
    assert table["sink"].between(1, keys).all()
