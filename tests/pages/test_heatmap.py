"""The heatmap page: its controls, its link, its sentence under the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.main.caption)


def test_the_last_layer_and_the_mean_of_heads_come_first(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap")
    assert app.selectbox(key="layer").value == "6"
    assert app.selectbox(key="head").value == "mean"
    assert "Rows add up to 1, columns do not" in captions(app)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"head": "max"}, "the largest value of any head: rows add up to 1."),
        ({"hide": "1"}, "the rest went to hidden tokens"),
        ({"hide": "1", "renorm": "1"}, "Rows add up to 1, columns do not"),
        ({"words": "1"}, "Rows add up to 1, columns do not"),
        ({"values": "scores"}, "its softmax is not the summary of their attention"),
        ({"layer": "mean"}, "Rows add up to 1, columns do not"),
    ],
)
def test_the_sentence_under_the_table_is_true_for_what_is_shown(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    app = open_app("heatmap", **state)
    assert not app.exception
    assert sentence in captions(app)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("layer", "999", "bundled/minilm has 6 layers: `mean`, `1`, `2`, `3`, `4`, `5`, `6`"),
        ("layer", "0", "asks for layer"),
        ("head", "13", "bundled/minilm has 12 heads a layer"),
        ("head", "-1", "asks for head"),
        ("view", "<script>", "The views are: `table`, `picture`"),
        ("words", "yes", "a switch is 0 or 1"),
    ],
)
def test_an_impossible_value_is_told_and_replaced(
    open_app: Callable[..., AppTest], key: str, value: str, said: str
) -> None:
    app = open_app("heatmap", **{key: value})
    assert not app.exception
    assert said in alerts(app)
    assert app.query_params.get(key) != value


def test_an_odd_link_is_told_once(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap", layer="999")
    app.selectbox(key="head").set_value("2").run()
    assert alerts(app) == ""


def test_choices_survive_another_page(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap", layer="2", head="7", words="1")
    app.switch_page("pages/home.py").run()
    app.switch_page("pages/heatmap.py").run()
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("2", "7")
    assert app.toggle(key="words").value is True


def test_presets_set_the_controls(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap")
    app.session_state["heatmap_presets"] = True
    app.run()
    titles = {button.label: button for button in app.button}
    titles["The token before"].click().run()
    assert not app.exception
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("1", "3")
    titles = {button.label: button for button in app.button}
    titles["Before softmax"].click().run()
    assert "Softmax turns each row" in captions(app)


def test_every_layer_and_head_of_a_link_is_what_the_table_shows(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("heatmap", layer="3", head="5", view="picture")
    assert not app.exception
    assert app.query_params["layer"] == "3"
    assert app.query_params["head"] == "5"
    assert app.query_params["view"] == "picture"
