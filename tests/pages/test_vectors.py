"""The vector grid and the projection page in process."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.pair_projection import PairProjection, project_pair
from core.model import load, trace_text
from core.screens.projection import headline
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent


def test_queries_and_keys_are_written_out_beside_their_arrows() -> None:
    """Q, K and its transpose, and S in which row 1, column 1 is q of "oh" times k of "oh"."""
    app = open_app("vectors", draw="queries", show="one layer", layer="4", head="2")
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    queries, keys = (each[3, 1, 1:-1].astype(float) for each in (trace.queries, trace.keys))
    written = {each.value.strip("$\n ").split(" = ")[0]: each.value for each in app.latex}
    matrices = {"Q": queries, "K": keys, r"K^{\top}": keys.T, "S": queries @ keys.T}
    assert list(written) == list(matrices)
    for name, matrix in matrices.items():
        assert f"bmatrix}}{matrix[0, 0]:.2f} & {matrix[0, 1]:.2f} & \\cdots" in written[name]
        assert f"& {matrix[-1, -1]:.2f}\\end" in written[name]
        assert "\\times".join(map(str, matrix.shape)) in written[name]
    assert "For L4 H2: rows of Q are queries" in said(app)
    assert "multiplies by 0.1768 before" in said(app)  # 1 / sqrt(32)
    assert not open_app("vectors", draw="values").latex
    assert len(open_app("vectors").latex) == 4  # under attention, which they make


def test_all_tokens_have_a_colour_of_tab20_and_a_legend() -> None:
    usual = sent(open_app("vectors"), "points")
    notebook = sent(open_app("vectors", tab20="1"), "points")
    assert (len(usual["held"]), usual["showsLegend"]) == (2, False)
    assert (notebook["held"], notebook["showsLegend"]) == ([], True)
    colours = [arrow["colour"] for arrow in notebook["arrows"]]
    assert colours[:3] == ["#1f77b4", "#aec7e8", "#ff7f0e"]
    assert len(set(colours)) == len(colours) == 11


def test_one_token_gets_a_sentence_instead_of_empty_planes() -> None:
    app = open_app("vectors", text="book")
    assert "type at least two words" in alerts(app)
    assert "Arrows are" not in said(app)
    assert alerts(open_app("vectors", text="book", special="1")) == ""


def test_picks_go_when_their_tokens_go() -> None:
    app = open_app("vectors", pick="5,11")
    app.text_area(key="text").set_value("one two").run()
    assert not app.exception
    assert app.multiselect(key="pick").value == []


def test_a_badge_says_how_far_a_part_can_be_trusted() -> None:
    """The variances that planes keep; the heads above a thirteenth."""
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    percent = 100 * project_pair(trace, 10, 4).kept
    low = f"{min(percent):.0f} % (layer {np.argmin(percent) + 1})"
    details = said(open_app("projection"))
    assert f"plane keeps {low} to {max(percent):.0f} % (layer 6) of the variance" in details
    assert f"{np.mean(percent):.0f} % on average" in details
    assert "gives `book` 0.08 of `it`'s" in said(open_app("projection", part="to"))


def test_another_text_gets_a_pair_of_its_own() -> None:
    app = open_app("projection")
    app.text_area(key="text").set_value("The brown capybara is sleeping now.").run()
    assert app.selectbox(key="a").value != app.selectbox(key="b").value
    assert alerts(app) == ""


NAN = float("nan")


@pytest.mark.parametrize(
    ("in_full", "where"),
    [
        ([0.1, 0.2, 0.9, 0.8, 1.0, 0.71], "Only in layers 3–6 do it and book"),
        ([0.1, -0.9, 0.3, NAN, 0.7071, 0.5], "Only in layer 5 do it and book"),
        ([0.9, 0.8, 0.3, NAN, 0.9, 0.7], "Only in layers 1–2 and 5 do it and book"),
        ([0.9, 0.8, 0.9, 0.8, 1.0, 0.71], "In every layer it and book"),
        ([-0.08, 0.07, 0.43, 0.1, NAN, 0.2], "In no layer do it and book"),
    ],
)
def test_the_answer_names_layers_in_which_two_are_alike(in_full: list[float], where: str) -> None:
    """In full space: what only a plane shows does not decide."""
    planes, weights, numbers = np.ones(6), np.full((6, 3), 0.004), tuple(range(1, 7))
    full, kept, places = np.array(in_full), np.full(6, 0.66), np.zeros((6, 3, 2))
    pair = PairProjection(places, planes, full, weights, weights, planes, kept, numbers)
    most = " at most 0.43 in full space (layer 3). Planes keep 66\xa0% of" * (where[3:5] == "no")
    answer = f"**{where} attend to the same words**: cosine{most}"
    assert headline("like", pair, "it", "book").startswith(answer)
    none = "**No head gives as much as 0.01 of it's attention to book.**"
    assert headline("to", pair, "it", "book") == none
