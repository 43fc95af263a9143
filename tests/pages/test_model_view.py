"""The model view in process: what it says, what a link restores, where a click leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


def said(app: AppTest) -> str:
    texts = [*app.main.caption, *app.main.markdown]
    return "\n".join(text.value for text in texts).replace("\N{NO-BREAK SPACE}", " ")


def test_the_caption_says_how_to_read_the_grid(open_app: Callable[..., AppTest]) -> None:
    text = said(open_app("model_view"))
    assert "Layers go down, heads across: 6 × 12 heads of 13 × 13 tokens." in text
    assert "a line goes from the token that attends" in text
    assert "Only the strongest lines" not in text


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"style": "tiles"}, "rows attend and columns are attended to"),
        ({"text": "the book and " * 20}, "500 of 3,844 in a tile, 2,000 in its enlargement"),
        ({"text": "the book and " * 80}, "each the largest of 2 × 2 weights"),
        ({"hide": "1"}, "What goes to tokens that are left out is missing. 2 special tokens are"),
        ({"hide": "1", "renorm": "1"}, "Rows are divided by what is left of them."),
        ({**PAIR, "filter": "ab"}, "heads of 6 × 7 tokens"),
        ({**PAIR, "filter": "ba", "hide": "1"}, "heads of 6 × 4 tokens"),
        ({"sort": "similarity", "text": "the book and " * 200}, "compared on one token in 2"),
    ],
)
def test_what_is_cut_hidden_or_approximated_is_said(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    app = open_app("model_view", **state)
    assert not app.exception
    assert sentence in said(app)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"pattern": "previous"}, "Previous token: 1 of 72 heads** with more than 0.5"),
        ({"pattern": "previous"}, "(a head that attends evenly has 0.08): L1 H3 1.00."),
        ({"pattern": "delimiters"}, "Delimiters: 38 of 72 heads** with more than 0.6"),
        ({"pattern": "delimiters"}, "and 32 more, numbered in the picture."),
        ({"pattern": "next", **PAIR}, "Next token: no head**"),
        ({"pattern": "next", **PAIR}, "The closest is L2 H9 0.47."),
        ({"pattern": "sentence"}, "The other sentence** cannot be measured here"),
        ({"pattern": "words"}, "no word of this text occurs twice, or in two forms."),
        ({"pattern": "broad"}, "Many tokens: 11 of 72 heads** with attention spread"),
    ],
)
def test_heads_of_a_pattern_are_counted_and_named_with_their_numbers(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    assert sentence in said(open_app("model_view", **state))


def test_a_link_restores_every_control(open_app: Callable[..., AppTest]) -> None:
    state = {
        "style": "tiles",
        "colour": "strength",
        "sort": "entropy",
        "filter": "ba",
        "pattern": "broad",
        "hide": "1",
        "renorm": "1",
        "off_layers": "1,6",
        "off_heads": "12",
    }
    app = open_app("model_view", **PAIR, **state)
    assert alerts(app) == ""
    assert {key: app.query_params[key] for key in state} == state


@pytest.mark.parametrize(
    ("state", "answer"),
    [
        ({"style": "<b>"}, "This link asks for style `<b>`"),
        ({"pattern": "fixed"}, "What can be looked for is: `none`"),
        ({"filter": "ab"}, "With one sentence the pairs are: `all`"),
        ({"off_layers": "2,99"}, "some of it is not in this text"),
        ({"hide": "yes"}, "a switch is 0 or 1"),
    ],
)
def test_odd_links_are_told_and_replaced(
    open_app: Callable[..., AppTest], state: dict[str, str], answer: str
) -> None:
    app = open_app("model_view", **state)
    assert not app.exception
    assert answer in alerts(app)


def test_a_link_that_hides_everything_shows_everything(open_app: Callable[..., AppTest]) -> None:
    app = open_app("model_view", off_layers="1,2,3,4,5,6")
    assert not app.exception
    assert "hides every layer" in alerts(app)
    assert "off_layers" not in app.query_params


def test_pairs_of_a_text_without_a_second_sentence_are_no_control(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("model_view", **PAIR, filter="ab")
    assert "Pairs" in [group.label for group in app.button_group]
    app.toggle(key="two").set_value(False).run()
    assert not app.exception
    assert "Pairs" not in [group.label for group in app.button_group]
    assert "of 6 × 6 tokens" in said(app)


@pytest.mark.parametrize("index", range(6))
def test_every_example_leads_to_a_picture(open_app: Callable[..., AppTest], index: int) -> None:
    app = open_app("model_view")
    app.session_state["model_view_presets"] = True
    app.run()
    app.button(key=f"model_view_preset_{index}").click().run()
    assert not app.exception
    assert alerts(app) == ""
    assert "Layers go down" in said(app)


def test_a_clicked_tile_opens_the_head_view_with_that_head_alone(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.components.model_view.show_model_view", lambda *_, **__: (3, 1))
    opened: list[str] = []

    def switch(page: str) -> None:
        opened.append(page)
        st.stop()

    monkeypatch.setattr("streamlit.switch_page", switch)
    app = open_app("model_view")
    assert opened[-1] == "pages/head_view.py"
    assert app.session_state["layer"] == "4"
    assert app.session_state["heads"] == [2]
