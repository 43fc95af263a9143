"""The heatmap's numbers against pandas done by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.attention_table import (
    attention_table,
    join_pieces,
    merge_words,
    renormalise_rows,
    unique_labels,
)
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

CAPYBARA = (
    token("[CLS]", 0, -1, special=True),
    token("the", 1, 0),
    token("cap", 2, 1),
    token("##y", 3, 1),
    token("##bara", 4, 1),
    token("the", 5, 2),
    token("[SEP]", 6, -1, special=True),
)
WEIGHTS = random_weights(7, layers=3, heads=4, size=7)
TRACE = trace_with_attention(WEIGHTS, CAPYBARA)


def frame_of(weights: np.ndarray) -> pd.DataFrame:
    names = ["[CLS]", "the", "cap", "##y", "##bara", "the (2)", "[SEP]"]
    return pd.DataFrame(weights, index=names, columns=names)


def test_one_head_is_shown_as_it_is() -> None:
    table = attention_table(TRACE, 1, 2)
    pd.testing.assert_frame_equal(
        table.frame(), frame_of(WEIGHTS[1, 2]), atol=1e-6, check_names=False
    )
    assert table.where == "L2 H3"
    assert table.rows_sum_to_one


def test_the_mean_of_heads_is_pandas_mean() -> None:
    frames = [frame_of(WEIGHTS[2, head]) for head in range(4)]
    mean = sum(frames[1:], start=frames[0]) / 4
    table = attention_table(TRACE, 2, "mean")
    pd.testing.assert_frame_equal(table.frame(), mean, atol=1e-6, check_names=False)
    assert table.where == "layer 3, mean of 4 heads"


def test_the_maximum_over_heads_exceeds_one_a_row() -> None:
    table = attention_table(TRACE, 0, "max")
    stacked = pd.concat([frame_of(WEIGHTS[0, head]) for head in range(4)], keys=range(4))
    np.testing.assert_allclose(
        table.values, stacked.groupby(level=1, sort=False).max().to_numpy(), atol=1e-6
    )
    assert not table.rows_sum_to_one
    assert (table.row_sums > 1).all()


def test_the_mean_over_layers_of_a_head_keeps_rows_at_one() -> None:
    table = attention_table(TRACE, "mean", 3)
    expected = sum(frame_of(WEIGHTS[layer, 3]) for layer in range(3)) / 3
    np.testing.assert_allclose(table.values, np.asarray(expected), atol=1e-6)
    np.testing.assert_allclose(table.row_sums, 1, atol=1e-6)
    assert table.where == "mean of 3 layers, head 4"


def test_the_maximum_over_heads_is_taken_in_each_layer_before_the_mean() -> None:
    table = attention_table(TRACE, "mean", "max")
    np.testing.assert_allclose(table.values, WEIGHTS.max(axis=1).mean(axis=0), atol=1e-6)


def test_hiding_special_tokens_drops_their_rows_and_columns() -> None:
    table = attention_table(TRACE, 0, 0, hide_special=True)
    expected = (
        frame_of(WEIGHTS[0, 0]).drop(index=["[CLS]", "[SEP]"]).drop(columns=["[CLS]", "[SEP]"])
    )
    np.testing.assert_allclose(table.values, expected.to_numpy(), atol=1e-6)
    assert table.labels == ("the", "cap", "##y", "##bara", "the (2)")
    assert table.hidden == 2
    assert not table.rows_sum_to_one


def test_renormalised_rows_are_what_is_left_over_its_sum() -> None:
    shown = frame_of(WEIGHTS[0, 0]).iloc[1:6, 1:6]
    expected = shown.div(shown.sum(axis=1), axis=0)
    table = attention_table(TRACE, 0, 0, hide_special=True, renormalise=True)
    np.testing.assert_allclose(table.values, expected.to_numpy(), atol=1e-5)
    assert table.rows_sum_to_one


def test_words_take_the_mean_of_rows_and_the_sum_of_columns() -> None:
    pieces = pd.Index(["[CLS]", "the", "capybara", "capybara", "capybara", "the (2)", "[SEP]"])
    frame = frame_of(WEIGHTS[1, 1])
    summed = frame.T.groupby(pieces, sort=False).sum().T
    expected = summed.groupby(pieces, sort=False).mean()
    table = attention_table(TRACE, 1, 1, words=True)
    assert table.labels == tuple(expected.columns)
    np.testing.assert_allclose(table.values, expected.to_numpy(), atol=1e-5)
    assert table.rows_sum_to_one


def test_scores_are_the_logits_before_softmax() -> None:
    table = attention_table(TRACE, 0, 1, values="scores")
    np.testing.assert_allclose(table.values, np.log(WEIGHTS[0, 1]), atol=1e-4)
    assert not table.rows_sum_to_one


@pytest.mark.parametrize("option", ["words", "renormalise"])
def test_logits_can_be_neither_merged_nor_renormalised(option: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        attention_table(TRACE, 0, 0, values="scores", **{option: True})  # type: ignore[arg-type]


def test_the_saved_file_has_a_different_name_for_each_repeated_word() -> None:
    lines = attention_table(TRACE, 0, 0).frame().to_csv(float_format="%.3f").splitlines()
    assert lines[0] == r"from \ to,[CLS],the,cap,##y,##bara,the (2),[SEP]"
    assert lines[6].startswith("the (2),")


@given(st.lists(st.sampled_from(["it", "it (2)", "it (3)", "is", "<b>"]), max_size=30))
def test_labels_are_always_different_and_start_as_the_token(displays: list[str]) -> None:
    labels = unique_labels(tuple(displays))
    assert len(set(labels)) == len(displays)
    assert all(label.startswith(shown) for label, shown in zip(labels, displays, strict=True))


@given(st.integers(1, 9), st.integers(0, 10_000))
def test_merging_keeps_each_row_at_one(size: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights = draw.dirichlet(np.ones(size), size).astype(np.float32)
    cuts = sorted({0, *draw.integers(0, size, 3).tolist()})
    groups = [list(range(a, b)) for a, b in zip(cuts, [*cuts[1:], size], strict=True)]
    merged = merge_words(weights, groups)
    assert merged.shape == (len(groups), len(groups))
    np.testing.assert_allclose(merged.sum(axis=1), 1, atol=1e-5)


def test_a_row_with_nothing_left_stays_zero() -> None:
    rows = np.array([[0, 0], [1, 3]], dtype=np.float32)
    np.testing.assert_array_equal(renormalise_rows(rows), [[0, 0], [0.25, 0.75]])


def test_the_start_of_the_second_sentence_is_kept() -> None:
    tokens = (token("a", 0, 0), token("b", 1, 1, segment=1))
    table = attention_table(trace_with_attention(random_weights(1, 1, 1, 2), tokens), 0, 0)
    assert table.segments == (0, 1)


def test_a_text_of_one_token_attends_to_itself() -> None:
    table = attention_table(
        trace_with_attention(np.ones((1, 1, 1, 1), np.float32), plain_tokens("x")), 0, "mean"
    )
    assert table.row_sums.tolist() == [1.0]


def test_words_are_merged_in_each_head_before_the_maximum() -> None:
    table = attention_table(TRACE, 1, "max", words=True)
    groups = [[0], [1], [2, 3, 4], [5], [6]]
    by_hand = np.stack(
        [
            [[WEIGHTS[1, head][np.ix_(a, b)].sum(axis=1).mean() for b in groups] for a in groups]
            for head in range(4)
        ]
    )
    np.testing.assert_allclose(table.values, by_hand.max(axis=0), atol=1e-5)
    assert float(np.max(table.values)) <= 1


def test_bytes_of_one_character_become_it_when_merged() -> None:
    pieces = [token(f"<0x{byte:02X}>", i, 0) for i, byte in enumerate("😀".encode())]
    assert join_pieces(pieces) == "😀"
    assert join_pieces(pieces[:2]) == "<0xF0><0x9F>"
    assert join_pieces([token("␣", 0, 0), token("cat", 1, 0)]) == "cat"
