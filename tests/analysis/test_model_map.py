"""Tiles, strongest pairs, the order of heads and the search for patterns, against slow oracles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from core.analysis.head_patterns.search import HIGHLIGHTED, find_heads
from core.analysis.head_patterns.similarity import head_distances, order_heads, token_step
from core.analysis.model_map import (
    MAX_BYTES,
    ModelMap,
    PairFilter,
    largest_of_blocks,
    max_cells,
    model_map,
    shown_positions,
    strongest_pairs,
    to_bytes,
)
from core.model import load, trace_text
from core.model.catalog import bundled_folder
from core.model.trace import Array, Layer, Trace
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

PAIR = (
    token("[CLS]", 0, -1, special=True),
    token("fall", 1, 0),
    token("[SEP]", 2, -1, special=True),
    token("red", 3, 1, segment=1),
    token("leaves", 4, 2, segment=1),
    token("[SEP]", 5, -1, special=True, segment=1),
)


def in_steps(weights: Array) -> Array:
    """255 times the root of each weight, before it is rounded."""
    return 255 * np.sqrt(weights.astype(np.float64))


def mapped(trace: Trace, pairs: PairFilter = "all", **options: bool) -> ModelMap:
    found = model_map(trace, pairs=pairs, **options)
    assert found is not None
    return found


def test_tiles_are_the_models_own_eager_attention_in_255_steps() -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    text = "Oh, this book? I've enjoyed it."
    tokenizer = AutoTokenizer.from_pretrained(bundled_folder())
    eager = AutoModel.from_pretrained(bundled_folder(), attn_implementation="eager")
    with torch.no_grad():
        output = eager(**tokenizer(text, return_tensors="pt"), output_attentions=True)
    steps = in_steps(np.stack([layer[0].numpy() for layer in output.attentions]))
    tiles = mapped(trace_text(load("bundled/minilm"), text)).tiles
    assert tiles.shape == (6, 12, 13, 13)
    assert tiles.dtype == np.uint8
    decided = np.abs(steps % 1 - 0.5) > 0.01  # not on the edge between two steps
    assert decided.mean() > 0.95
    np.testing.assert_array_equal(tiles[decided], np.rint(steps)[decided])


def test_a_byte_is_the_root_of_the_weight() -> None:
    weights = np.array([0, 1, 0.25, 1 / 64, 1e-6], dtype=np.float32)
    assert to_bytes(weights).tolist() == [0, 255, 128, 32, 0]


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


def test_tiles_of_many_heads_are_smaller() -> None:
    assert max_cells(144) == 128
    assert max_cells(32 * 32) == 62
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


def test_renormalised_rows_are_shares_of_what_is_left() -> None:
    weights = np.tile(np.array([0.5, 0.1, 0.1, 0.15, 0.05, 0.1], np.float32), (1, 1, 6, 1))
    shown = mapped(trace_with_attention(weights, PAIR), hide_special=True, renormalise=True)
    np.testing.assert_array_equal(
        shown.tiles[0, 0], np.rint(in_steps(np.tile([1 / 3, 1 / 2, 1 / 6], (3, 1))))
    )
    np.testing.assert_allclose(shown.strongest[0, 0], 0.5, atol=1e-6)
    assert shown.pairs[0, 0].tolist() == [[0, 1], [1, 1], [2, 1]]


def test_nothing_left_is_no_picture() -> None:
    assert model_map(trace_with_attention(random_weights(3, 1, 1, 6), PAIR[:3]), pairs="ab") is None


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_the_strongest_pairs_are_those_of_a_full_sort(rows: int, columns: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights = (draw.integers(0, 5, (3, rows, columns)) / 4).astype(np.float32)  # ties and zeros
    values, where = strongest_pairs(weights)
    for matrix, found, cells in zip(weights, values, where, strict=True):
        order = np.argsort(-matrix.ravel(), kind="stable")  # equal ones as the text has them
        expected = [divmod(int(i), columns) for i in order if matrix.ravel()[i] > 0][:3]
        expected += [(-1, -1)] * (3 - len(expected))
        assert [tuple(cell) for cell in cells.tolist()] == expected
        for value, (row, column) in zip(found, expected, strict=True):
            assert np.isnan(value) if row < 0 else value == matrix[row, column]


def test_a_token_that_may_see_only_itself_is_no_strong_pair() -> None:
    weights = np.array([[[[1, 0, 0], [0.6, 0.4, 0], [0.2, 0.5, 0.3]]]], dtype=np.float32)
    mask = np.where(np.tri(3, dtype=bool), 0, -np.inf).astype(np.float32)
    trace = replace(trace_with_attention(weights), layers=(Layer(1.0, mask),), causal=True)
    assert mapped(trace).pairs[0, 0].tolist() == [[1, 0], [2, 1], [1, 1]]


def test_heads_that_attend_alike_have_no_distance_and_apart_ones_the_largest() -> None:
    same = np.array([[1, 0], [0, 1]], dtype=np.float32)
    distances = head_distances(np.stack([same, same, same[::-1]]))
    np.testing.assert_allclose(distances, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-7)


def test_distances_are_the_mean_jensen_shannon_distance_of_rows() -> None:
    heads = random_weights(4, 1, 4, 9)[0]
    distances = head_distances(heads)
    for a, b in np.ndindex(4, 4):
        rows = [jensenshannon(heads[a, i], heads[b, i], base=2) for i in range(9)]
        assert distances[a, b] == pytest.approx(np.mean(rows), abs=1e-4)
    every_third = [jensenshannon(heads[0, i], heads[1, i], base=2) for i in (0, 3, 6)]
    assert head_distances(heads[:, ::3])[0, 1] == pytest.approx(np.mean(every_third), abs=1e-4)


def test_twins_stand_beside_each_other() -> None:
    weights = random_weights(5, 2, 6, 8)
    weights[0, 4] = weights[0, 1]
    weights[1, 5] = weights[1, 0]
    order = order_heads(trace_with_attention(weights), "similarity")
    places = [list(row) for row in order]
    assert abs(places[0].index(4) - places[0].index(1)) == 1
    assert abs(places[1].index(5) - places[1].index(0)) == 1
    assert all(sorted(row) == list(range(6)) for row in places)
    assert all(row[0] < row[-1] for row in places)


def test_entropy_sorts_from_focused_to_broad() -> None:
    even = np.full((4, 4), 0.25)
    eye = np.eye(4)
    weights = np.stack([even, eye, 0.5 * even + 0.5 * eye])[None].astype(np.float32)
    trace = trace_with_attention(weights)
    assert order_heads(trace, "entropy").tolist() == [[1, 2, 0]]
    assert order_heads(trace, "number").tolist() == [[0, 1, 2]]


def test_short_texts_are_compared_on_every_token() -> None:
    assert token_step(trace_with_attention(random_weights(6, 2, 3, 50))) == 1
    long = trace_with_attention(random_weights(7, 1, 16, 1000))  # 120 pairs of a million numbers
    assert token_step(long) == 2


def planted(layer: int, head: int, offset: int, weight: float) -> Trace:
    weights = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)
    for query in range(6):
        if 0 <= query + offset < 6:
            weights[layer, head, query] = (1 - weight) / 5
            weights[layer, head, query, query + offset] = weight
    return trace_with_attention(weights, plain_tokens("a", "b", "c", "d", "e", "f"))


def test_a_planted_head_is_found_and_no_other() -> None:
    found = find_heads(planted(1, 2, -1, 0.7), "previous")
    assert np.argwhere(found.holds).tolist() == [[1, 2]]
    layer, head, score = found.ranked()[0]
    assert (layer, head) == (1, 2)
    assert score == pytest.approx(0.7, abs=1e-6)
    assert len(found.ranked()) == 6
    assert found.uniform == pytest.approx(1 / 6, abs=1e-6)


def test_where_none_holds_the_closest_is_still_known() -> None:
    found = find_heads(planted(0, 1, 1, 0.4), "next")
    assert not found.holds.any()
    assert found.ranked()[0][:2] == (0, 1)


def test_what_a_text_lacks_cannot_be_measured() -> None:
    trace = planted(0, 0, 1, 0.9)
    for name in ("words", "sentence"):
        found = find_heads(trace, name)
        assert not found.measurable
        assert not found.holds.any()
        assert found.ranked() == []


def test_a_head_that_attends_evenly_is_no_find_even_over_the_threshold() -> None:
    tokens = (
        token("[CLS]", 0, -1, special=True),
        token("x", 1, 0),
        token("[SEP]", 2, -1, special=True),
    )
    even = trace_with_attention(np.full((1, 1, 3, 3), 1 / 3, np.float32), tokens)
    found = find_heads(even, "delimiters")
    assert found.uniform == pytest.approx(2 / 3, abs=1e-6)
    assert found.scores[0, 0] > HIGHLIGHTED["delimiters"].threshold
    assert not found.holds.any()


def test_broad_is_measured_by_entropy() -> None:
    even, eye = np.full((4, 4), 0.25), np.eye(4)
    trace = trace_with_attention(np.stack([eye, even])[None].astype(np.float32))
    assert find_heads(trace, "broad").holds.tolist() == [[False, True]]
