"""The neuron view's page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import core.model
from core.analysis.strongest_link import find_link
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import BOOK, PAIR, alerts, hints, press_example, said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["x", "book " * 200])
def test_every_text_has_a_view_and_examples_with_numbers(text: str) -> None:
    app = open_app("neuron_view", text=text)
    app.session_state["neuron_view_presets"] = True
    app.run()
    assert alerts(app) == ""
    assert "nan" not in said(app)
    assert ("Lines with both ends out of view" in said(app)) == (len(text) > 500)
    titles = [button.label for button in app.button]
    assert "One token back" in titles


TIRED = "The animal didn't cross the street because it was too tired."


def test_a_first_visitor_sees_the_pair_that_home_names() -> None:
    found = find_link(core.model.trace_text(core.model.load("bundled/minilm"), TIRED))
    assert found is not None
    app = open_app("neuron_view", text=TIRED)
    place = str(found.layer + 1), str(found.head + 1), str(found.query + 1)
    assert tuple(app.session_state[key] for key in ("layer", "head", "query")) == place


def test_the_strongest_key_is_shown_until_another_is_picked() -> None:
    app = open_app("neuron_view", text=BOOK)
    assert app.selectbox(key="query").value == "11"  # "it"
    assert app.selectbox(key="key_token").value == "strongest"
    assert "filter" not in app.query_params
    app.text_area(key="text").set_value("A cat.").run()
    assert app.selectbox(key="query").value == "3"
    assert alerts(app) == ""


def test_examples_state_what_holds() -> None:
    app = open_app("neuron_view", text=BOOK)
    press_example(app, "neuron_view", "The strongest link")
    assert "L1 H3 gives 1.00 to the token before" in hints(app)
    assert "In L4 H2, `it` gives 0.93 to `book`" in hints(app)
    assert "lowest score, −5.22, is with" in hints(app)
    state = {"layer": "4", "head": "2", "query": "11", "key_token": "5", "sort": "contribution"}
    assert {key: app.query_params[key] for key in state} == state
    press_example(app, "neuron_view", "The pair with the lowest score")
    assert {"key_token": "7"}.items() <= app.query_params.items()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_rotary_grouped_and_capped_models_are_said_to_be_so(tmp_path: Path, name: str) -> None:
    app = open_app("neuron_view", model=str(build(FAMILIES[name], tmp_path)), text=BOOK, head="3")
    assert "$q$ and $k$ are those after rotation" in said(app)
    assert "a dash is a pair that the model does not permit" in said(app)
    assert ("has a **soft cap**" in said(app)) == (name == "gemma2")
    press_example(app, "neuron_view", "One token back")


@pytest.mark.parametrize("pairs", ["ab", "ba"])
def test_pairs_of_sentences_leave_their_tokens_and_that_is_said(pairs: str) -> None:
    app = open_app("neuron_view", **PAIR, query="all", filter=pairs)
    assert alerts(app) == ""
    assert (app.query_params["query"], app.query_params["filter"]) == ("all", pairs)
    assert app.selectbox(key="query").value == "all"
    # [CLS] leaves fall in autumn [SEP] autumn is marked by colorful foliage [SEP]
    tokens = {
        "a": ["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"],
        "b": ["autumn₂", "is", "marked", "by", "colorful", "foliage", "[SEP]₂"],
    }
    assert app.selectbox(key="query").options[1:] == tokens[pairs[0]]
    assert app.selectbox(key="key_token").options[1:] == tokens[pairs[1]]
    assert "the sentence left out counts but is not shown" in said(app)


def test_a_query_that_its_link_leaves_out_is_reported() -> None:
    app = open_app("neuron_view", **PAIR, query="2", filter="bb")
    assert "This link asks for query `2`. The tokens of these pairs are" in alerts(app)
    assert app.selectbox(key="query").value == "12"  # "foliage", the last word of those left
