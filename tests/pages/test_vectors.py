"""The vector grid and the projection page in process."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.pair_projection import PairProjection, project_pair
from core.model import load, trace_text
from core.screens.projection import headline
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent

TAB20 = {"tab20": "1"}


def test_queries_and_keys_are_written_out_beside_their_arrows() -> None:
    """Q, K and its transpose, and S in which row 1, column 1 is q of "oh" times k of "oh"."""
    app = open_app("vectors", draw="queries", show="one layer", layer="4", head="2")
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    queries, keys = (each[3, 1, 1:-1].astype(float) for each in (trace.queries, trace.keys))
    written = {each.value.strip("$\n ").split(" = ")[0]: each.value for each in app.latex}
    assert list(written) == ["Q", "K", r"K^{\top}", "S"]
    q, k, transposed, s = written.values()
    assert (r"_{11\times32}" in q.replace("underset{", "_{"), "32\\times11" in transposed) == (1, 1)
    assert f"bmatrix}}{queries[0, 0]:.2f} & {queries[0, 1]:.2f} & \\cdots" in q
    assert f"& {keys[-1, -1]:.2f}\\end" in k
    assert f"bmatrix}}{keys[0, 0]:.2f} & {keys[1, 0]:.2f} &" in transposed
    products = queries @ keys.T
    assert f"bmatrix}}{products[0, 0]:.2f} & {products[0, 1]:.2f} &" in s
    assert "11\\times11" in s
    assert "For L4 H2: rows of Q are queries" in said(app)
    assert "multiplies by 0.1768 before" in said(app)  # 1 / sqrt(32)
    assert not open_app("vectors", draw="values").latex
    assert len(open_app("vectors").latex) == 4  # under attention, which they make


def test_all_tokens_have_a_colour_of_tab20_and_a_legend() -> None:
    usual, notebook = (sent(open_app("vectors", **state), "points") for state in ({}, TAB20))
    assert (len(usual["held"]), usual["legend"]) == (2, False)
    assert (notebook["held"], notebook["legend"]) == ([], True)
    colours = notebook["colours"]
    assert colours[:3] == ["#1f77b4", "#aec7e8", "#ff7f0e"]
    assert len(set(colours)) == len(colours) == 11


def test_picks_go_when_their_tokens_go() -> None:
    app = open_app("vectors", pick="5,11")
    app.text_area(key="text").set_value("one two").run()
    assert not app.exception
    assert app.multiselect(key="pick").value == []


def test_the_answer_comes_first_on_the_projection_page() -> None:
    """In the title: of one part whether the two attend alike, of the other whether one attends."""
    app = open_app("projection")
    assert LIKE in said(app)
    assert "gives 0.93" not in said(app)
    assert next(header.value for header in app.header) == "`it` along `book` in each layer's plane"
    app = open_app("projection", part="to")
    assert "**L4 H2 gives 0.93 of `it`'s attention to `book`**, the most of any head." in said(app)
    assert LIKE not in said(app)
    assert [header.value for header in app.header] == ["Which heads link these two words?"]


def test_a_badge_says_how_far_a_part_can_be_trusted() -> None:
    """The variances that planes keep; the heads above a thirteenth."""
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    kept = 100 * project_pair(trace, 10, 4).kept
    low, high = f"{min(kept):.0f} % (layer {np.argmin(kept) + 1})", f"{max(kept):.0f} % (layer 6)"
    details = said(open_app("projection"))
    assert f"plane keeps {low} to {high} of the variance" in details
    assert f"{np.mean(kept):.0f} % on average" in details
    assert "gives `book` 0.08 of `it`'s" in said(open_app("projection", part="to"))


def test_another_text_gets_a_pair_of_its_own() -> None:
    app = open_app("projection")
    app.text_area(key="text").set_value("The brown capybara is sleeping now.").run()
    assert app.selectbox(key="a").value != app.selectbox(key="b").value
    assert alerts(app) == ""


NAN = float("nan")
LIKE = "**Only in layer 6 do `it` and `book` attend to the same words**: cosine 0.73 in full space"


@pytest.mark.parametrize(
    ("in_plane", "where"),
    [
        ([0.1, 0.2, 0.9, 0.8, 1.0, 0.71], "Only in layers 3–6 do"),
        ([0.1, -0.9, 0.3, NAN, 0.7071, 0.5], "Only in layer 5 do"),
        ([0.1, 0.2, 0.3, 0.0, 0.5, 0.71], "Only in layer 6 do"),
        ([0.9, 0.8, 0.9, 0.8, 1.0, 0.71], "In every layer"),
        ([0.9, 0.8, 0.3, NAN, 0.9, 0.7], "Only in layers 1–2 and 5 do"),
        ([NAN] * 6, "In no layer do"),
    ],
)
def test_the_answer_names_the_layers_in_which_two_tokens_are_alike(
    in_plane: list[float], where: str
) -> None:
    answer = headline("like", a_pair(in_plane, 0.9), "it", "book")
    assert answer.startswith(f"**{where} it and book attend to the same words**: cosine ")


def test_what_only_a_plane_shows_does_not_decide() -> None:
    """Of pairs that are alike in a plane, most are not in full space."""
    pair = a_pair([-0.08, 0.07, 0.43, 0.1, NAN, 0.2], 0.9)
    pair = replace(pair, in_plane=np.array([0.9, 0.8, 0.1, 0.1, NAN, 0.2]))
    assert pair.same_way == ()
    assert headline("like", pair, "graz", "##s") == (
        "**In no layer do graz and ##s attend to the same words**: cosine at most 0.43 in full"
        " space (layer 3). Planes keep 66\xa0% of the variance."
    )


def test_no_head_that_gives_less_than_a_hundredth_is_named() -> None:
    answer = "**No head gives as much as 0.01 of it's attention to book.**"
    assert headline("to", a_pair([0.1] * 6, 0.004), "it", "book") == answer


def a_pair(in_plane: list[float], weight: float) -> PairProjection:
    a_to_b = np.full((6, 3), 0.001)
    a_to_b[3, 1] = weight
    lengths = np.array(in_plane)
    same = {"in_plane": lengths, "in_full": lengths, "uniform": lengths}
    weights = {"a_to_b": a_to_b, "b_to_a": a_to_b}
    kept, numbers = np.full(6, 0.66), tuple(range(1, 7))
    return PairProjection(np.zeros((6, 3, 2)), kept=kept, layer_labels=numbers, **same, **weights)
