"""What tokens, layers and heads are called."""

from __future__ import annotations

import pytest
import scipy.linalg  # noqa: F401 - NumPy has a BLAS, SciPy another
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from core.analysis.arrays import one_thread
from core.analysis.layers import place_layers
from core.vocabulary import head_name, join_pieces, listed, unique_labels, without_attention
from tests.analysis.traces import HYBRID, Stack, numbers_of, random_trace, token


def test_a_head_is_named_by_the_number_that_its_model_gives_to_the_layer() -> None:
    trace = random_trace(0, layers=2, heads=3)
    assert head_name(trace, 1, 2) == "L2 H3"
    assert head_name(numbers_of(trace, HYBRID), 1, 2) == "L6 H3"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((), ""), ((4,), "4"), ((3, 6), "3 and 6"), ((1, 2, 4, 5, 7), "1–2, 4–5 and 7")],
)
def test_numbers_are_listed_with_neighbours_as_ranges(numbers: tuple[int, ...], words: str) -> None:
    assert listed(numbers) == words


@given(st.lists(st.sampled_from(["it", "it₂", "it₃", "is", "<b>"]), max_size=30))
def test_labels_are_always_different_and_start_as_the_token(displays: list[str]) -> None:
    labels = unique_labels(tuple(displays))
    assert len(set(labels)) == len(displays)
    assert all(label.startswith(shown) for label, shown in zip(labels, displays, strict=True))


def test_parts_of_one_character_become_it_when_merged() -> None:
    pieces = [token(f"😀\u00a0{part}/4", part, 0) for part in range(1, 5)]
    assert join_pieces(pieces) == "😀"
    assert join_pieces(pieces[:1]) == "😀\u00a01/4"
    spelled = [token("a", 0, 0), *pieces, *pieces, token("##◌\u0308", 9, 0)]
    assert join_pieces(spelled) == "a😀😀\u0308"
    assert join_pieces([token("␣", 0, 0), token("cat", 1, 0)]) == "cat"


def test_a_number_stands_on_the_right_of_words_that_run_to_the_left() -> None:
    """Beside Hebrew letters a number alone would go to their left, also in an English line."""
    assert unique_labels(("ים", "ים", "it", "it")) == ("ים", "ים\u200e₂", "it", "it₂")
    pieces = [token(f"ש\u200e\u00a0{part}/2", part, 0) for part in (1, 2)]
    assert join_pieces([*pieces, token("##לום", 3, 0)]) == "שלום"


def test_a_model_whose_every_layer_attends_has_a_row_for_each_and_no_gap() -> None:
    rows = place_layers(Stack.of(4))
    assert (rows.places, rows.gaps, rows.end) == ((1, 2, 3, 4), (), 4)
    assert without_attention(Stack.of(4)) == ()


def test_layers_that_do_not_attend_share_a_thin_row_between_those_that_do() -> None:
    """From the top: a gap of half a row, a row, a gap, a row, a gap; a row's middle is at 1."""
    rows = place_layers(HYBRID)
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
    assert [gap.name for gap in place_layers(Stack((2, 3))).gaps] == ["1"]


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_no_blas_has_more_than_one_thread_until_the_block_ends() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
