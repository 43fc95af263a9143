"""The heatmap's numbers and the tiles of all heads, against NumPy and pandas."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.attention_table import AnyHead, AnyLayer, Values, attention_table
from core.analysis.csv_text import to_csv
from core.analysis.model_map import (
    MAX_BYTES,
    PairFilter,
    largest_of_blocks,
    max_cells,
    model_map,
    shown_positions,
    strongest_pairs,
)
from core.model.trace import Array
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
    layer: AnyLayer, head: AnyHead, expected: np.ndarray, where: str
) -> None:
    table = attention_table(TRACE, layer, head)
    frame = table.frame()
    assert [list(frame.index), list(frame.columns)] == [NAMES, NAMES]
    np.testing.assert_allclose(frame, expected, atol=1e-6)
    assert table.where == where
    assert table.rows_sum_to_one == (head != "max")
    np.testing.assert_allclose(table.row_sums, expected.sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(table.column_sums, expected.sum(axis=0), atol=1e-5)


def test_hiding_special_tokens_drops_their_rows_and_columns() -> None:
    table = attention_table(TRACE, 0, 0, hide_special=True)
    np.testing.assert_allclose(table.values, WEIGHTS[0, 0, 1:6, 1:6], atol=1e-6)
    assert table.rows.labels == ("the", "cap", "##y", "##bara", "the₂")
    assert table.hidden == 2
    assert not table.rows_sum_to_one


@pytest.mark.parametrize("head", [1, "max"])
def test_words_take_the_mean_of_rows_and_the_sum_of_columns_in_each_head(head: AnyHead) -> None:
    pieces = np.zeros((5, 7))
    pieces[[0, 1, 2, 2, 2, 3, 4], range(7)] = 1
    of_heads = (pieces / pieces.sum(axis=1, keepdims=True)) @ WEIGHTS[1] @ pieces.T
    expected = of_heads.max(axis=0) if head == "max" else of_heads[head]
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
    values: Values, head: AnyHead
) -> None:
    table = attention_table(causal(TRACE), 0, head, values=values)
    np.testing.assert_array_equal(table.permitted, np.tri(7, dtype=bool))
    np.testing.assert_array_equal(np.isnan(table.shown), ~np.tri(7, dtype=bool))
    assert attention_table(TRACE, 0, head, values=values).permitted.all()


def test_cross_attention_has_its_own_tokens_down_and_across() -> None:
    trace = crossing(5, 3, keys=("a", "##b", "c", "[SEP]"), queries=("[CLS]", "x", "##y"))
    weights = trace.attention(1, 0)
    table = attention_table(trace, 1, 0, hide_special=True)
    assert (table.rows.labels, table.columns.labels) == (("x", "##y"), ("a", "##b", "c"))
    np.testing.assert_array_equal(table.values, weights[1:, :3])
    assert table.hidden == 2
    merged = attention_table(trace, 1, 0, words=True)
    assert (merged.rows.labels, merged.columns.labels) == (("[CLS]", "xy"), ("ab", "c", "[SEP]"))
    columns = np.column_stack([weights[:, :2].sum(axis=1), weights[:, 2:]])
    np.testing.assert_allclose(merged.values, [columns[0], columns[1:].mean(axis=0)], rtol=1e-5)
    assert table.frame().shape == (2, 3)


FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-x", "\t=1", "\r=1", " =1+1", "＝1+1", "'=1")
STARTS = "=+-@\t\r\n＝＋－＠"
TEXTS = st.text("ab1.' ;,\"=+-@\t\r\n＝", max_size=8)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_written_as_text_wherever_it_stands(formula: str) -> None:
    index = pd.Index([formula], name=formula)
    ((name, column), (label, cell)) = rows_of(to_csv(pd.DataFrame({formula: [formula]}, index)))
    inner = formula.replace("\t=", "\t'=").replace("\r=", "\r'=")  # may begin a cell as well
    assert {name, column, label, cell} == {"'" + inner}


def test_numbers_stay_numbers() -> None:
    frame = pd.DataFrame(
        {"x": [-0.5, np.nan], "n": [-3, 4], "t": ["-0.5", "+1e-3"], "b": [True, False]}
    )
    assert to_csv(frame, index=False, float_format="%.2f") == (
        "x,n,t,b\r\n-0.50,-3,-0.5,True\r\n,4,+1e-3,False\r\n"
    )


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_nothing_begins_as_a_formula_and_only_apostrophes_are_added(cells: list[str]) -> None:
    written = [row[1] for row in rows_of(to_csv(pd.DataFrame({"t": cells})))[1:]]
    plain = [cell.replace("'", "") for cell in cells]
    assert [cell.replace("'", "") for cell in written] == plain
    for cell in written:
        is_number = cell.lstrip("+-")[:1].isdigit() or cell.lstrip("+-")[:1] == "."
        assert is_number or not cell.lstrip(" ").startswith(tuple(STARTS))


PAIR = spelled("[CLS] fall [SEP] red leaves [SEP]")


def in_steps(weights: Array) -> Array:
    """255 times the root of each weight, before it is rounded."""
    return 255 * np.sqrt(weights.astype(np.float64))


SIDES = st.integers(1, 9)


@settings(max_examples=40, deadline=None)
@given(SIDES, SIDES, st.integers(1, 4), st.integers(1, 4))
def test_a_cell_is_the_largest_weight_of_its_block(
    rows: int, columns: int, down: int, across: int
) -> None:
    weights = np.random.default_rng(rows).random((2, rows, columns), dtype=np.float32)
    blocks = largest_of_blocks(weights, (down, across))
    padded = np.pad(weights, ((0, 0), (0, -rows % down), (0, -columns % across)))
    cells = padded.reshape(2, -(-rows // down), down, -(-columns // across), across)
    np.testing.assert_array_equal(blocks, cells.max(axis=(2, 4)))


def test_a_long_text_keeps_128_cells_a_side_and_its_exact_pairs() -> None:
    weights = random_weights(1, 1, 2, 300)
    shown = model_map(trace_with_attention(weights))
    assert shown is not None
    assert shown.block == (3, 3)
    assert shown.tiles.shape == (1, 2, 100, 100)
    largest = weights[0, 1].max()
    assert shown.strongest[0, 1, 0] == pytest.approx(largest, abs=1e-6)
    assert tuple(shown.pairs[0, 1, 0]) == np.unravel_index(weights[0, 1].argmax(), (300, 300))
    row, column = shown.pairs[0, 1, 0] // 3
    assert shown.tiles[0, 1, row, column] == np.rint(in_steps(largest))
    assert max_cells(144) == 128
    assert max_cells(32 * 32) == 62  # tiles of many heads are smaller
    assert MAX_BYTES >= 32 * 32 * 62**2


@pytest.mark.parametrize(
    ("pairs", "hide", "rows", "columns"),
    [
        ("all", False, (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)),
        ("all", True, (1, 3, 4), (1, 3, 4)),
        ("aa", False, (0, 1, 2), (0, 1, 2)),
        ("ab", True, (1,), (3, 4)),
        ("ba", False, (3, 4, 5), (0, 1, 2)),
        ("bb", True, (3, 4), (3, 4)),
    ],
)
def test_a_pair_filter_keeps_who_attends_and_who_is_attended_to(
    pairs: PairFilter, hide: bool, rows: tuple[int, ...], columns: tuple[int, ...]
) -> None:
    assert shown_positions(PAIR, pairs, hide) == (rows, columns)
    weights = random_weights(2, 2, 2, 6)
    shown = model_map(trace_with_attention(weights, PAIR), pairs=pairs, hide_special=hide)
    assert shown is not None
    steps = in_steps(weights[:, :, list(rows)][..., list(columns)])
    assert np.abs(shown.tiles - steps).max() <= 0.51


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_the_strongest_pairs_are_those_of_a_full_sort(rows: int, columns: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights = (draw.integers(0, 5, (3, rows, columns)) / 4).astype(np.float32)  # ties and zeros
    for matrix, largest, cells in zip(weights, *strongest_pairs(weights), strict=True):
        order = np.argsort(-matrix.ravel(), kind="stable")  # equal ones as the text has them
        expected = [divmod(int(i), columns) for i in order if matrix.ravel()[i] > 0][:3]
        values = [matrix[cell] for cell in expected]
        missing = 3 - len(expected)
        assert cells.tolist() == [*map(list, expected), *[[-1, -1]] * missing]
        np.testing.assert_array_equal(largest, values + [np.nan] * missing)
