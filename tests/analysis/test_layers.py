"""The numbers that people read, and the gaps where layers do not attend."""

from __future__ import annotations

from core.analysis.layers import rows_of
from core.vocabulary import without_attention
from tests.analysis.traces import HYBRID, Stack


def test_a_model_whose_every_layer_attends_has_a_row_for_each_and_no_gap() -> None:
    rows = rows_of(Stack.of(4))
    assert (rows.places, rows.gaps, rows.end) == ((1, 2, 3, 4), (), 4)
    assert without_attention(Stack.of(4)) == ()


def test_layers_that_do_not_attend_share_a_thin_row_between_those_that_do() -> None:
    """From the top: a gap of half a row, a row, a gap, a row, a gap; a row's middle is at 1."""
    rows = rows_of(HYBRID)
    assert [(gap.place, gap.name) for gap in rows.gaps] == [
        (0.75, "1–2"),
        (2.25, "4–5"),
        (3.75, "7–8"),
    ]
    assert rows.places == (1.5, 3.0)
    assert rows.end == 3.5
    assert without_attention(HYBRID) == (1, 2, 4, 5, 7, 8)


def test_where_nobody_says_how_deep_a_model_is_it_ends_with_its_last_attention() -> None:
    assert without_attention(Stack((2, 4))) == (1, 3)
    assert [gap.name for gap in rows_of(Stack((2, 3))).gaps] == ["1"]
