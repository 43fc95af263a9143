"""What moved, on attention that is made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.effect.table import moved_table
from tests.analysis.traces import Stack, numbers_of, plain_tokens, trace_with_attention

if TYPE_CHECKING:
    from core.model import Trace


def first_of_two_heads(second_row: list[float]) -> Trace:
    """A hybrid's heads look at the own token, but for this row of the first."""
    weights = np.tile(np.eye(3, dtype=np.float32), (1, 2, 1, 1))
    weights[0, 0, 1] = second_row
    return numbers_of(trace_with_attention(weights, plain_tokens("it", "it", "so")), Stack((2,)))


def test_a_head_moved_as_much_of_its_attention_as_went_elsewhere() -> None:
    rows = [0.25, 0.5, 0.25], [0.75, 0.125, 0.125]
    table = moved_table(*map(first_of_two_heads, rows))
    assert list(table["layer"]) == [2, 2]
    assert list(table["head"]) == [1, 2]
    assert table["moved"].tolist() == pytest.approx([1 / 6, 0])  # half of one row, of three
    assert table["largest"][0] == pytest.approx(0.5)
    assert (table["query"][0], table["key"][0]) == ("it₂", "it")
    assert table["largest"][1] == 0
