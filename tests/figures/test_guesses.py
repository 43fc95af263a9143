"""Bars of guesses: in the order given, as long as their probabilities, and text stays text."""

from __future__ import annotations

from core.figures.guesses import GuessBar, guess_bars
from core.figures.palette import palette


def test_bars_keep_their_order_and_equal_labels_apart() -> None:
    bars = [GuessBar("the", "Ġthe", 7, 0.5), GuessBar("the", "the", 9, 0.25)]
    figure = guess_bars(bars, palette("light"))
    (drawn,) = figure.data
    assert (list(drawn.y), list(drawn.x)) == ([0, 1], [0.5, 0.25])
    assert list(figure.layout.yaxis.ticktext) == ["the", "the"]
    assert list(drawn.text) == ["50\N{NO-BREAK SPACE}%", "25\N{NO-BREAK SPACE}%"]
    assert [list(each) for each in drawn.customdata] == [["Ġthe", 7], ["the", 9]]


def test_a_token_that_looks_like_code_or_has_no_end_is_shown_as_text() -> None:
    bars = [GuessBar("<b>$x$", "<b>$x$", 0, 0.1), GuessBar("-" * 90, "-" * 90, 1, 0.1)]
    figure = guess_bars(bars, palette("dark"))
    code, long = figure.layout.yaxis.ticktext
    assert code.startswith("&lt;b&gt;$\u200bx")
    assert long == "-" * 17 + "…"
    assert figure.data[0].customdata[0][0] == code
    assert figure.data[0].customdata[1][0] == "-" * 90
