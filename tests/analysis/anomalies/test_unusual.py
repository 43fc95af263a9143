"""Which heads are unusual among a model's own, and what most of them do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import FLAGS, anomaly_table, measure_heads
from core.analysis.anomalies.flags import distances
from core.analysis.statistics import OUTLIER
from core.model import load, trace_text
from core.model.weights import output_projection, query_key
from tests.analysis.traces import random_trace, random_weights, trace_with_attention, with_values

if TYPE_CHECKING:
    from core.analysis.anomalies.measures import Measures

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
    assert (anomaly_table(trace)["unusual"] == 0).all()
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
