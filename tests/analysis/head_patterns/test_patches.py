"""Head patterns on images: neighbours are of one row, and what is no patch is none."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.model.trace.input import neighbours
from tests.analysis.images.pictures import confetti, tokens_of, with_attention


def test_neighbours_of_a_patch_are_those_of_its_row_and_none_beyond_an_edge() -> None:
    tokens = tokens_of(confetti(0, 2, 3), ("[CLS]", "[REG1]"))  # r1c1 is token 2, r2c1 token 5
    left, right = (np.argwhere(neighbours(tokens, step)).tolist() for step in (-1, 1))
    assert left == [[3, 2], [4, 3], [6, 5], [7, 6]]
    assert right == [[2, 3], [3, 4], [5, 6], [6, 7]]
    assert neighbours(tokens, 0).all(axis=0).sum() == 0
    assert neighbours(tokens, 0).diagonal().all()


def test_a_head_that_looks_to_the_left_is_named_so_and_its_score_leaves_out_first_columns() -> None:
    rows, columns = 4, 4
    size = rows * columns + 1
    weights = np.full((size, size), 0.1 / (size - 1))
    for token in range(1, size):
        if (token - 1) % columns:
            weights[token, token - 1] = 0.9
    weights[weights.sum(axis=1) < 0.5] = 1 / size
    row = pattern_table(with_attention(confetti(0, rows, columns), weights[None, None])).iloc[0]
    assert row["class"] == "previous"
    # Over the twelve patches with a left neighbour: the others' rows would lower it
    assert row["previous"] == pytest.approx(0.9, abs=1e-5)
    assert row["previous_uniform"] == pytest.approx(1 / size)
