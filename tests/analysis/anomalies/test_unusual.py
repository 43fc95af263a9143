"""What stands out among a model's own heads, and what most of them do."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import FLAGS, anomaly_table, measure_heads
from core.analysis.anomalies.flags import standing_out, unusualness
from core.model import load, trace_text
from core.model.weights import output_projection, query_key
from tests.analysis.traces import random_trace, random_weights, trace_with_attention, with_values

if TYPE_CHECKING:
    from core.analysis.anomalies.flags import Measures
    from core.analysis.arrays import Bools

TOKENS = 14


def resting(heads: dict[int, tuple[int, float]], count: int = 24) -> Measures:
    """One layer of random heads; each of `heads` gives a column so much of every row."""
    weights = random_weights(7, 1, count, TOKENS) * 0.2 + 0.8 / TOKENS  # near uniform
    for head, (column, share) in heads.items():
        weights[0, head] *= 1 - share
        weights[0, head, :, column] += share
    trace = with_values(trace_with_attention(weights), [1.0] * TOKENS)
    # Queries and keys that stand for weights have lengths of no meaning.
    space = {"norm_log_ratio": np.zeros((1, count)), "separability": np.full((1, count), 0.5)}
    return measure_heads(trace) | space


def which(heads: Bools) -> list[int]:
    return np.flatnonzero(heads).tolist()


def test_what_most_heads_do_makes_none_stand_out() -> None:
    measures = resting(dict.fromkeys(range(16), (0, 0.7)))
    assert which(FLAGS["first-token sink"].raised(measures)) == list(range(16))
    assert not any(heads.any() for heads in standing_out(measures).values())
    expected = measures["first_attention"][0, 0] / 0.5 * math.log2(24 / 16)
    assert unusualness(measures)[0, 0] == pytest.approx(expected)


def test_a_rare_flag_comes_before_a_severer_one_that_many_heads_have() -> None:
    measures = resting(dict.fromkeys(range(16), (0, 0.95)) | {20: (6, 0.6)})
    assert which(standing_out(measures)["column sink"]) == [20]
    assert measures["sink_attention"][0, 20] < measures["first_attention"][0, 0]
    scores = unusualness(measures)[0]
    assert scores.argmax() == 20
    assert scores[20] == pytest.approx(measures["sink_attention"][0, 20] / 0.5 * math.log2(24))


def test_the_usual_makes_a_head_stand_out_only_as_an_outlier() -> None:
    """A sink is usual in trained networks, so one among few counts where no other comes near."""
    near = resting({head: (0, 0.2 + 0.018 * head) for head in range(24)})  # from 0.2 to 0.61
    raised = which(FLAGS["first-token sink"].raised(near))
    assert 0 < len(raised) < 24
    assert not any(heads.any() for heads in standing_out(near).values())
    alone = resting({3: (0, 0.8)})
    assert which(standing_out(alone)["first-token sink"]) == [3]


def test_heads_from_one_distribution_are_not_unusual() -> None:
    trace = random_trace(1)
    assert (anomaly_table(trace)["unusual"] == 0).all()
    keys = trace.kv_keys.copy()
    keys /= 16  # all heads alike: nothing tells one from the others
    table = anomaly_table(replace(trace, kv_keys=keys))
    assert (table["flags"] != "").all()
    assert (table["stands_out"] == "").all()
    assert table["unusual"].max() == 0


def test_few_heads_of_the_embedded_model_stand_out_though_most_have_a_flag() -> None:
    model = load("bundled/minilm")
    similar = query_key.weight_similarity(model)
    for text in ("Oh, this book? I've enjoyed it.", "My friend told me about this class today."):
        trace = trace_text(model, text)
        norms = output_projection.transformed_norms(model, trace)
        table = anomaly_table(trace, norms, similar)
        if not table.attrs["too_short"]:
            assert (table["flags"] != "").sum() > 20
        assert 1 <= (table["stands_out"] != "").sum() <= 7
