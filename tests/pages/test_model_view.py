"""The model view in process: what it says, what a link restores."""

from __future__ import annotations

import pytest

from tests.opening import open_app
from tests.pages.conftest import PAIR, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "sentences"),
    [
        ({}, ["6 × 12 heads of 13 × 13 tokens.", "Lines go from the token that attends"]),
        ({"style": "tiles"}, ["Rows attend, columns are attended to"]),
        (
            {"text": "the book and " * 20},
            ["500 of 3,844 in a tile, 2,000 when enlarged"],
        ),
        ({"text": "the book and " * 80}, ["is the largest of 2 × 2 weights"]),
        (
            {"hide": "1"},
            ["Special tokens hidden: 2."],
        ),
        ({**PAIR, "filter": "ab"}, ["heads of 6 × 7 tokens"]),
        ({**PAIR, "filter": "ba", "hide": "1"}, ["heads of 6 × 4 tokens"]),
        (
            {"pattern": "previous"},
            ["Previous token: 1 of 72 heads** with more than 0.5", "0.08): L1 H3 1.00."],
        ),
        ({"pattern": "next", **PAIR}, ["Next token: no head**", "The closest is L2 H9 0.47."]),
        ({"pattern": "sentence"}, ["The other sentence** cannot be measured here"]),
    ],
)
def test_the_page_says_how_to_read_the_grid_and_counts_the_heads_of_a_pattern(
    state: dict[str, str], sentences: list[str]
) -> None:
    app = open_app("model_view", **state)
    for sentence in sentences:
        assert sentence in said(app)
    assert ("Drawn: the strongest" in said(app)) == ("the book and" in state.get("text", ""))


def test_pairs_of_a_text_without_a_second_sentence_are_no_control() -> None:
    app = open_app("model_view", **PAIR, filter="ab")
    assert "Pairs" in [group.label for group in app.button_group]
    app.toggle(key="two").set_value(False).run()
    assert "Pairs" not in [group.label for group in app.button_group]
    assert "of 6 × 6 tokens" in said(app)
