"""The neuron view's page in process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from tests.model.families import FAMILIES, build
from tests.pages.conftest import alerts, press_example, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

BOOK = "Oh, this book? I've enjoyed it."
PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


@pytest.mark.parametrize("text", ["x", "it it it", "😀 مرحبا", "book " * 200])
def test_every_text_has_a_view_and_examples_with_numbers(
    open_app: Callable[..., AppTest], text: str
) -> None:
    app = open_app("neuron_view", text=text)
    app.session_state["neuron_view_presets"] = True
    app.run()
    assert not app.exception
    assert alerts(app) == ""
    assert "nan" not in said(app)
    assert ("Lines with both ends out of view" in said(app)) == (len(text) > 500)
    titles = [button.label for button in app.button]
    assert "One token back" in titles
    assert "A key that draws everyone" in titles


def test_a_first_visitor_sees_the_last_word_as_the_query(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", text=BOOK)
    assert app.selectbox(key="query").value == "11"  # "it"
    assert app.selectbox(key="key_token").value == "strongest"
    assert "filter" not in app.query_params
    app.text_area(key="text").set_value("A cat.").run()
    assert not app.exception
    assert app.selectbox(key="query").value == "3"
    assert alerts(app) == ""


@pytest.mark.parametrize(
    "link",
    [
        {"query": "99", "key_token": "-1", "sort": "size", "filter": "ab", "fold": "maybe"},
        {"query": "0", "filter": "<b>"},
        {"query": "<b>"},
    ],
)
def test_what_a_link_cannot_ask_for_is_reported(
    open_app: Callable[..., AppTest], link: dict[str, str]
) -> None:
    app = open_app("neuron_view", text=BOOK, **link)
    assert not app.exception
    for key, value in link.items():
        assert f"This link asks for {key} `{value}`" in alerts(app)


def test_examples_state_what_holds(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", text=BOOK)
    press_example(app, "neuron_view", "The strongest link")
    trace = trace_text(load("bundled/minilm"), BOOK)
    weights = trace.attention()
    back = np.stack([np.diagonal(layer, -1, 1, 2).mean(axis=1) for layer in weights])
    assert f"Gives {back.max():.2f} to the token before" in said(app)
    assert f"`it` gives {weights[3, 1, 10, 4]:.2f} to `book`" in said(app)
    state = {"layer": "4", "head": "2", "query": "11", "key_token": "5", "sort": "contribution"}
    assert {key: app.query_params[key] for key in state} == state

    stated = re.search(r"In L4 H2, the (\d+) largest of 32 products come within 10 %", said(app))
    assert stated is not None
    products = trace.queries[3, 1, 10].astype(float) * trace.keys[3, 1, 4]
    sums = np.cumsum(sorted(products, key=abs, reverse=True))
    near = np.abs(sums - sums[-1]) <= 0.1 * abs(sums[-1])
    count = int(stated[1])
    assert near[count - 1 :].all()
    assert not near[count - 2]

    scores = trace.scores(3, 1)[10]
    assert f"lowest score, −{-scores.min():.2f}, is with" in said(app)
    press_example(app, "neuron_view", "The pair pushed furthest apart")
    assert app.query_params["key_token"] == str(int(scores.argmin()) + 1)


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_rotary_grouped_and_capped_models_are_said_to_be_so(
    open_app: Callable[..., AppTest], tmp_path: Path, name: str
) -> None:
    app = open_app("neuron_view", model=str(build(FAMILIES[name], tmp_path)), text=BOOK, head="3")
    assert "positions already applied where the model rotates them" in said(app)
    assert "serves query heads 3 to 4" in said(app)
    assert "A dash is a pair that the model does not permit" in said(app)
    assert ("soft-capped" in said(app)) == (name == "gemma2")
    press_example(app, "neuron_view", "One token back")


@pytest.mark.parametrize("pairs", ["ab", "ba"])
def test_pairs_of_sentences_leave_their_tokens_and_that_is_said(
    open_app: Callable[..., AppTest], pairs: str
) -> None:
    app = open_app("neuron_view", **PAIR, query="all", filter=pairs)
    assert alerts(app) == ""
    assert (app.query_params["query"], app.query_params["filter"]) == ("all", pairs)
    assert app.selectbox(key="query").value == "all"
    # [CLS] leaves fall in autumn [SEP] autumn is marked by colorful foliage [SEP]
    tokens = {
        "a": ["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"],
        "b": ["autumn (2)", "is", "marked", "by", "colorful", "foliage", "[SEP] (2)"],
    }
    assert app.selectbox(key="query").options[1:] == tokens[pairs[0]]
    assert app.selectbox(key="key_token").options[1:] == tokens[pairs[1]]
    assert "is left out counts but is not shown" in said(app)


def test_a_query_that_its_link_leaves_out_is_reported(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", **PAIR, query="2", filter="bb")
    assert not app.exception
    assert "This link asks for query `2`. The tokens of these pairs are" in alerts(app)
    assert app.selectbox(key="query").value == "12"  # "foliage", the last word of those left
