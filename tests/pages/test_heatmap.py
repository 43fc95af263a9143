"""The heatmap page: its controls, its link, its sentence under the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.conftest import alerts, press_example, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({}, "Rows add up to 1, columns do not"),
        ({"head": "max"}, "the largest value of any head, so rows add up to 1."),
        ({"head": "max", "layer": "mean"}, "averaged over layers"),
        ({"hide": "1"}, "the rest went to hidden tokens"),
        ({"hide": "1", "renorm": "1", "words": "1"}, "Rows add up to 1, columns do not"),
        ({"hide": "1"}, "2 special tokens are hidden."),
        ({"values": "scores"}, "its softmax is not the summary of their attention"),
        ({"values": "scores", "head": "3"}, "Softmax turns each row, special tokens included"),
    ],
)
def test_the_sentence_under_the_table_is_true_for_what_is_shown(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    assert sentence in said(open_app("heatmap", **state))


def test_impossible_values_are_reported_once_and_replaced(
    open_app: Callable[..., AppTest],
) -> None:
    link = {"layer": "999", "head": "13", "view": "<script>", "words": "yes"}
    app = open_app("heatmap", **link)
    for key, value in link.items():
        assert f"asks for {key} `{value}`" in alerts(app)
        assert app.query_params[key] != value
    assert "bundled/minilm has 6 layers: `mean`, `1`, `2`, `3`, `4`, `5`, `6`" in alerts(app)
    assert "bundled/minilm has 12 heads a layer" in alerts(app)
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("6", "mean")
    app.selectbox(key="head").set_value("2").run()
    assert alerts(app) == ""
    for key, value in (("layer", "0"), ("head", "-1")):
        assert f"asks for {key} `{value}`" in alerts(open_app("heatmap", **{key: value}))


def test_choices_survive_another_page(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap", layer="2", head="7", words="1")
    app.switch_page("pages/home.py").run()
    app.switch_page("pages/heatmap.py").run()
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("2", "7")
    assert app.toggle(key="words").value is True


def test_examples_set_the_controls(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap")
    press_example(app, "heatmap", "The token before")
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("1", "3")
    press_example(app, "heatmap", "Before softmax")
    assert "Softmax turns each row" in said(app)
