"""The heatmap's numbers against pandas done by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.attention_table import Head, Layer, Values, attention_table
from tests.analysis.traces import (
    causal,
    crossing,
    random_weights,
    spelled,
    trace_with_attention,
)

CAPYBARA = spelled("[CLS] the cap ##y ##bara the [SEP]")
NAMES = ["[CLS]", "the", "cap", "##y", "##bara", "the₂", "[SEP]"]
WEIGHTS = random_weights(7, layers=3, heads=4, size=7)
TRACE = trace_with_attention(WEIGHTS, CAPYBARA)


def frame_of(weights: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(weights, index=NAMES, columns=NAMES)


@pytest.mark.parametrize(
    ("layer", "head", "expected", "where"),
    [
        (1, 2, WEIGHTS[1, 2], "L2 H3"),
        (2, "mean", WEIGHTS[2].mean(axis=0), "layer 3, mean of 4 heads"),
        ("mean", 3, WEIGHTS[:, 3].mean(axis=0), "mean of 3 layers, head 4"),
        (0, "max", WEIGHTS[0].max(axis=0), "layer 1, maximum of 4 heads"),
        # The maximum over heads is taken in each layer before the mean.
        (
            "mean",
            "max",
            WEIGHTS.max(axis=1).mean(axis=0),
            "mean of 3 layers, maximum of 4 heads",
        ),
    ],
)
def test_a_table_is_of_one_head_or_summarises_heads_then_layers(
    layer: Layer, head: Head, expected: np.ndarray, where: str
) -> None:
    table = attention_table(TRACE, layer, head)
    pd.testing.assert_frame_equal(
        table.frame(), frame_of(expected), atol=1e-6, check_names=False, check_dtype=False
    )
    assert table.where == where
    assert table.rows_sum_to_one == (head != "max")
    np.testing.assert_allclose(table.row_sums, expected.sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(table.column_sums, expected.sum(axis=0), atol=1e-5)


def test_hiding_special_tokens_drops_their_rows_and_columns() -> None:
    shown = frame_of(WEIGHTS[0, 0]).iloc[1:6, 1:6]
    table = attention_table(TRACE, 0, 0, hide_special=True)
    np.testing.assert_allclose(table.values, shown.to_numpy(), atol=1e-6)
    assert table.rows.labels == ("the", "cap", "##y", "##bara", "the₂")
    assert table.hidden == 2
    assert not table.rows_sum_to_one


@pytest.mark.parametrize("head", [1, "max"])
def test_words_take_the_mean_of_rows_and_the_sum_of_columns_in_each_head(head: Head) -> None:
    groups = [[0], [1], [2, 3, 4], [5], [6]]
    by_hand = np.array(
        [
            [[weights[np.ix_(a, b)].sum(axis=1).mean() for b in groups] for a in groups]
            for weights in WEIGHTS[1]
        ]
    )
    expected = by_hand.max(axis=0) if head == "max" else by_hand[head]
    table = attention_table(TRACE, 1, head, words=True)
    assert table.rows.labels == ("[CLS]", "the", "capybara", "the₂", "[SEP]")
    np.testing.assert_allclose(table.values, expected, atol=1e-5)
    assert table.rows_sum_to_one == (head != "max")


def test_scores_are_those_before_softmax_and_cannot_be_merged() -> None:
    table = attention_table(TRACE, 0, 1, values="scores")
    np.testing.assert_allclose(table.values, np.log(WEIGHTS[0, 1]), atol=1e-4)
    assert not table.rows_sum_to_one
    with pytest.raises(ValueError, match="merged"):
        attention_table(TRACE, 0, 0, values="scores", words=True)


@pytest.mark.parametrize("values", ["attention", "scores"])
@pytest.mark.parametrize("head", [0, "mean"])
def test_a_causal_model_permits_no_later_key_in_attention_as_in_scores(
    values: Values, head: Head
) -> None:
    table = attention_table(causal(TRACE), 0, head, values=values)
    np.testing.assert_array_equal(table.permitted, np.tri(7, dtype=bool))
    np.testing.assert_array_equal(np.isnan(table.shown), ~np.tri(7, dtype=bool))
    assert attention_table(TRACE, 0, head, values=values).permitted.all()


def test_cross_attention_has_its_own_tokens_down_and_across() -> None:
    trace = crossing(5, 3, keys=("a", "##b", "c", "[SEP]"), queries=("[CLS]", "x", "##y"))
    weights = trace.attention(1, 0)
    assert weights.shape == (3, 4)
    table = attention_table(trace, 1, 0, hide_special=True)
    assert (table.rows.labels, table.columns.labels) == (("x", "##y"), ("a", "##b", "c"))
    np.testing.assert_array_equal(table.values, weights[1:, :3])
    assert table.hidden == 2
    merged = attention_table(trace, 1, 0, words=True)
    assert (merged.rows.labels, merged.columns.labels) == (("[CLS]", "xy"), ("ab", "c", "[SEP]"))
    np.testing.assert_allclose(merged.row_sums[1], 1, rtol=1e-5)
    np.testing.assert_allclose(
        merged.column_sums[0], weights[:, :2].sum(axis=1) @ [1, 0.5, 0.5], rtol=1e-5
    )
    assert table.frame().shape == (2, 3)
