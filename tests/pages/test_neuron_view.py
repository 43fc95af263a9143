"""The neuron view's page in process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from tests.model.families import FAMILIES, build
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

BOOK = "Oh, this book? I've enjoyed it."


def said(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in (*app.markdown, *app.caption))


@pytest.mark.parametrize(
    "text", ["x", "it it it", "<b>x</b> $x$ :red[x]", "😀 مرحبا", "!!!", "book " * 200]
)
def test_every_text_has_a_view_and_presets(open_app: Callable[..., AppTest], text: str) -> None:
    app = open_app("neuron_view", text=text)
    assert not app.exception
    assert alerts(app) == ""
    app.session_state["neuron_view_presets"] = True
    app.run()
    assert not app.exception
    assert "nan" not in said(app).replace("finance", "")


def test_the_link_holds_the_whole_state(open_app: Callable[..., AppTest]) -> None:
    state = {"layer": "4", "head": "2", "query": "11", "key_token": "5", "sort": "contribution"}
    app = open_app("neuron_view", text=BOOK, fold="1", **state)
    assert app.selectbox(key="query").value == "11"
    assert app.selectbox(key="key_token").value == "5"
    assert {key: app.query_params[key] for key in state} == state
    assert app.query_params["fold"] == "1"
    assert alerts(app) == ""


def test_a_first_visitor_sees_the_last_word_ask(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", text=BOOK)
    assert app.selectbox(key="query").value == "11"  # "it"
    assert app.selectbox(key="key_token").value == "strongest"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("query", "99"),
        ("query", "0"),
        ("query", "<b>"),
        ("key_token", "-1"),
        ("sort", "size"),
        ("filter", "ab"),
        ("filter", "<b>"),
        ("fold", "maybe"),
    ],
)
def test_what_a_link_cannot_ask_for_is_told(
    open_app: Callable[..., AppTest], key: str, value: str
) -> None:
    app = open_app("neuron_view", **{"text": BOOK, key: value})
    assert not app.exception
    assert f"This link asks for {key}" in alerts(app)


def test_a_shorter_text_takes_its_own_query_without_a_word(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("neuron_view", text=BOOK)
    app.text_area(key="text").set_value("A cat.").run()
    assert not app.exception
    assert app.selectbox(key="query").value == "3"
    assert alerts(app) == ""


def test_presets_state_what_holds(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", text=BOOK)
    app.session_state["neuron_view_presets"] = True
    app.run()
    trace = trace_text(load("bundled/minilm"), BOOK)
    weights = trace.attention()
    back = np.stack([np.diagonal(layer, -1, 1, 2).mean(axis=1) for layer in weights])
    assert f"Gives {back.max():.2f} to the token before" in said(app)
    assert f"`it` gives {weights[3, 1, 10, 4]:.2f} to `book`" in said(app)
    app.button(key="neuron_view_preset_0").click().run()
    assert (app.query_params["layer"], app.query_params["head"]) == ("4", "2")
    assert (app.query_params["query"], app.query_params["key_token"]) == ("11", "5")
    assert app.query_params["sort"] == "contribution"


def test_the_preset_for_the_lowest_score_names_it(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", text=BOOK)
    app.session_state["neuron_view_presets"] = True
    app.run()
    scores = trace_text(load("bundled/minilm"), BOOK).scores(3, 1)[10]
    app.button(key="neuron_view_preset_1").click().run()
    assert app.query_params["key_token"] == str(int(scores.argmin()) + 1)


@pytest.mark.parametrize("name", ["llama", "gemma2", "mistral"])
def test_rotary_grouped_and_capped_models_are_said_to_be_so(
    open_app: Callable[..., AppTest], tmp_path: Path, name: str
) -> None:
    app = open_app("neuron_view", model=str(build(FAMILIES[name], tmp_path)), text=BOOK, head="3")
    assert not app.exception
    assert "positions already applied where the model rotates them" in said(app)
    assert "serves query heads 3 to 4" in said(app)
    assert "A dash is a pair that the model does not permit" in said(app)
    assert ("soft-capped" in said(app)) == (name == "gemma2")
    app.session_state["neuron_view_presets"] = True
    app.run()
    assert not app.exception


PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


def test_a_link_holds_all_queries_and_pairs_of_sentences(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", **PAIR, query="all", filter="ba")
    assert alerts(app) == ""
    assert (app.query_params["query"], app.query_params["filter"]) == ("all", "ba")
    assert app.selectbox(key="query").value == "all"
    # [CLS] leaves fall in autumn [SEP] autumn is marked by colorful foliage [SEP]
    assert app.selectbox(key="query").options[1:] == [
        "autumn (2)",
        *["is", "marked", "by", "colorful", "foliage"],
        "[SEP] (2)",
    ]
    assert app.selectbox(key="key_token").options[1:3] == ["[CLS]", "leaves"]
    assert "filter" not in open_app("neuron_view", text=BOOK).query_params


def test_a_query_that_its_link_leaves_out_is_told(open_app: Callable[..., AppTest]) -> None:
    app = open_app("neuron_view", **PAIR, query="2", filter="bb")
    assert not app.exception
    assert "This link asks for query `2`. Of these pairs they are" in alerts(app)
    assert app.selectbox(key="query").value == "12"  # "foliage", the last word of those left


@pytest.mark.parametrize("pairs", ["aa", "ab", "ba", "bb"])
def test_what_pairs_leave_out_is_said(open_app: Callable[..., AppTest], pairs: str) -> None:
    assert "is left out counts and is not shown" in said(
        open_app("neuron_view", **PAIR, filter=pairs)
    )


def test_the_examples_say_how_many_products_come_near_the_dot_product(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("neuron_view", text=BOOK)
    app.session_state["neuron_view_presets"] = True
    app.run()
    assert "make 90 % of its score" not in said(app)
    stated = re.search(r"In L4 H2, the (\d+) largest of 32 products come within 10 %", said(app))
    assert stated is not None
    trace = trace_text(load("bundled/minilm"), BOOK)
    products = trace.queries[3, 1, 10].astype(float) * trace.keys[3, 1, 4]
    sums = np.cumsum(sorted(products, key=abs, reverse=True))
    near = np.abs(sums - sums[-1]) <= 0.1 * abs(sums[-1])
    count = int(stated[1])
    assert near[count - 1 :].all()
    assert not near[count - 2]
