"""The a and c of the search on the query-key page, and distance against dot product."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest

from core.analysis.normalization import grid_search
from core.model import load, trace_text
from core.screens.query_key import choice as choice_module
from core.screens.query_key.choice import Choice
from core.screens.query_key.report import make_report
from core.ui.cache import TraceKey
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said

CAPYBARA = "The brown capybara is sleeping now."
IT, BOOK_KEY = 10, 4  # positions from 0


@pytest.mark.parametrize(
    "parameters",
    [{"span": "one head"}, {"span": "all heads", "stage": "searched"}, {"span": "side by side"}],
)
def test_the_picture_says_where_the_search_ends(parameters: dict[str, str]) -> None:
    app = open_app("query_key", text=CAPYBARA, layer="1", **{"stage": "all four"} | parameters)
    text = said(app)
    assert "gives **a = −0.5**, **c = −2**" in text
    assert "**on the edge of its range** (−0.5 to 0.5)" in text
    assert "does not depend on c" in text


def test_a_stage_without_the_search_says_nothing_of_it() -> None:
    app = open_app("query_key", text=CAPYBARA, span="all heads", stage="normalized")
    assert "The search of layer" not in said(app)


def test_the_ranges_of_the_search_reach_the_picture_and_its_link() -> None:
    link = {"stage": "all four", "a_range": "50", "steps": "41"}
    app = open_app("query_key", text=CAPYBARA, layer="1", **link)
    assert "inside its range (−50 to 50)" in said(app)
    assert (app.query_params["a_range"], app.query_params["steps"]) == ("50", "41")
    assert "c_range" not in app.query_params
    usual = open_app("query_key", text=CAPYBARA, layer="1")
    assert not {"a_range", "c_range", "steps", "dot"} & set(usual.query_params)


def test_where_the_search_finds_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    still = np.ones((2, 3, 4))
    monkeypatch.setattr(
        choice_module, "layer_search", lambda *_: grid_search(still, still, [0.0], [1.0])
    )
    app = open_app("query_key", text=BOOK, layer="6", span="side by side")
    assert "The search finds no a and c for layer 6" in alerts(app)
    one = open_app("query_key", text=BOOK, layer="6", stage="all four")
    assert not one.exception
    assert "The search finds no a and c for layer 6" in said(one)


@pytest.mark.parametrize(
    ("quantity", "stage"),
    [("raw", "raw"), ("translated", "translated"), ("nearest key, raw", "raw"), ("c", "norm")],
)
def test_the_pairs_are_of_the_stage_that_the_map_shows(quantity: str, stage: str) -> None:
    app = open_app("query_key", text=BOOK, part="heads", quantity=quantity)
    assert f"Distance against dot product, L4 H2, {stage}" in said(app)


def test_the_log_of_the_notebook_stands_beside_ours_with_the_reason() -> None:
    app = open_app("query_key", text=CAPYBARA, part="search", layer="5")
    ours, printed = (table.value for table in app.table)
    assert list(ours.iloc[-1]) == ["0.5", "-2", "0.958620"]
    assert len(printed) > len(ours)  # rounding, on any processor
    assert float(printed["|r|"].iloc[-1]) == pytest.approx(0.95862, abs=1e-5)
    text = said(app)
    assert f"{len(printed)} lines where this page, in double precision, has {len(ours)}" in text
    assert "rounding in the seventh digit of r" in text


def test_the_trust_table_measures_the_fourth_stage() -> None:
    table = open_app("query_key", text=CAPYBARA, part="trust", layer="1", head="1").table[0].value
    row = table.loc["full space, a and c of the search"]
    assert row.iloc[0] == "−0.97"


def shown_report(choice: Choice) -> tuple[str, str]:
    """The report's markup, and what its pictures are drawn from."""
    report = make_report(trace_text(load("bundled/minilm"), choice.key[1]), choice, {})
    (packed,) = re.findall(r'atob\("([^"]*)"\)', report)
    return report, base64.b64decode(packed).decode("utf-8", errors="replace")


def test_the_report_has_default_and_searched_beside_each_other_with_red_and_regression() -> None:
    key = TraceKey("bundled/minilm", CAPYBARA)
    choice = Choice(key, 0, 0, 1, "euclidean", "pearson", sources=(2,), targets=(3, 4, 5))
    report, pictures = shown_report(choice)
    first = pictures.index("L1 H1 raw: mean distance 1.55")
    assert pictures.index("L1 H1 a and c of the search: mean distance 5.55") > first
    assert re.search(r'"sources": ?\[2\], ?"targets": ?\[3, ?4, ?5\]', pictures)
    assert "Layer 1: a = −0.5, c = −2, |r| = 0.68453" in report
    assert "(on the edge of its range)" in report
    assert "cap, ##y, ##bara" in report


def test_a_chosen_pair_shows_its_own_numbers() -> None:
    link = {"part": "heads", "layer": "4", "head": "2", "quantity": "raw", "dot": "11,5"}
    app = open_app("query_key", text=BOOK, **link)
    words = "Query `it` → key `book`: score **6.297**, distance **7.673**, attention **0.932**"
    assert words in said(app)
    assert app.query_params["dot"] == "11,5"


@pytest.mark.parametrize("dot", ["1", "1,2,3", "-1,99", "<b>,$x$"])
def test_a_dot_that_is_no_pair_of_this_text_is_told(dot: str) -> None:
    app = open_app("query_key", text=BOOK, part="heads", dot=dot)
    assert "dot" in alerts(app)
    assert "Press a point to see its pair" in said(app)


def test_a_dot_of_another_text_is_forgotten() -> None:
    app = open_app("query_key", text=BOOK, part="heads", dot="11,5")
    app.text_area(key="text").set_value(CAPYBARA).run()
    assert "Press a point to see its pair" in said(app)
    assert alerts(app) == ""


def test_many_pairs_are_a_density_and_the_number_is_said() -> None:
    app = open_app("query_key", text="book " * 80, part="heads")
    assert "density of 6,724 pairs (more than 4,000)" in said(app)


@pytest.mark.parametrize("target", ["centred", "raw"])
def test_the_scatter_quotes_hostile_tokens(target: str) -> None:
    link = {"part": "heads", "target": target, "dot": "3,5"}
    app = open_app("query_key", text="<b>x</b> $x$ :red[x]", distance="cosine", **link)
    assert "Query `b` → key `x`: score **" in said(app)
    assert "nan" not in said(app)
