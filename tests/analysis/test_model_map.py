"""Tiles and strongest pairs, against slow oracles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.model_map import (
    MAX_BYTES,
    ModelMap,
    PairFilter,
    largest_of_blocks,
    max_cells,
    model_map,
    shown_positions,
    strongest_pairs,
)
from tests.analysis.traces import random_weights, spelled, trace_with_attention

if TYPE_CHECKING:
    from core.model.trace import Array, Trace

PAIR = spelled("[CLS] fall [SEP] red leaves [SEP]")


def in_steps(weights: Array) -> Array:
    """255 times the root of each weight, before it is rounded."""
    return 255 * np.sqrt(weights.astype(np.float64))


def mapped(trace: Trace, pairs: PairFilter = "all", **options: bool) -> ModelMap:
    result = model_map(trace, pairs=pairs, **options)
    assert result is not None
    return result


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4))
def test_a_cell_is_the_largest_weight_of_its_block(
    rows: int, columns: int, down: int, across: int
) -> None:
    weights = np.random.default_rng(rows).random((2, rows, columns), dtype=np.float32)
    blocks = largest_of_blocks(weights, (down, across))
    assert blocks.shape == (2, -(-rows // down), -(-columns // across))
    for head, i, j in np.ndindex(*blocks.shape):
        block = weights[head, i * down : (i + 1) * down, j * across : (j + 1) * across]
        assert blocks[head, i, j] == block.max()


def test_a_long_text_keeps_128_cells_a_side_and_its_exact_pairs() -> None:
    weights = random_weights(1, 1, 2, 300)
    shown = mapped(trace_with_attention(weights))
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
    shown = mapped(trace_with_attention(weights, PAIR), pairs, hide_special=hide)
    steps = in_steps(weights[:, :, list(rows)][..., list(columns)])
    assert np.abs(shown.tiles - steps).max() <= 0.51


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_the_strongest_pairs_are_those_of_a_full_sort(rows: int, columns: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights = (draw.integers(0, 5, (3, rows, columns)) / 4).astype(np.float32)  # ties and zeros
    values, places = strongest_pairs(weights)
    for matrix, largest, cells in zip(weights, values, places, strict=True):
        order = np.argsort(-matrix.ravel(), kind="stable")  # equal ones as the text has them
        expected = [divmod(int(i), columns) for i in order if matrix.ravel()[i] > 0][:3]
        expected += [(-1, -1)] * (3 - len(expected))
        assert [tuple(cell) for cell in cells.tolist()] == expected
        for value, (row, column) in zip(largest, expected, strict=True):
            assert np.isnan(value) if row < 0 else value == matrix[row, column]
