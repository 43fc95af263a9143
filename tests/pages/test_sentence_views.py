"""The pages of one sentence in process: links, what views are sent, what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import core.model
from core.analysis.strongest_link import find_link
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages import conftest
from tests.pages.conftest import BOOK, PAIR, alerts, pick, press_example, said
from tests.tools.bench.models import sentence_of


def sent(app: AppTest) -> dict[str, Any]:
    """What the component gets."""
    return conftest.sent(app, "head_view")


def test_the_head_that_home_names_comes_first_and_a_link_without_heads_means_all() -> None:
    app = open_app("head_view")
    view, found = sent(app)["view"], sent(app)["found"]
    assert (view["layer"], view["heads"], view["weigh"]) == ("4", [2], "attention")
    assert found == {"layer": 4, "head": 1, "query": 10, "key": 4}  # it -> book
    assert sent(open_app("head_view", layer="4"))["view"]["heads"] == []
    assert sent(open_app("head_view", layer="2", head="7"))["view"]["heads"] == [7]
    assert list(sent(app)["layers"]) == ["0", "1", "2", "3", "4", "5"]


def test_of_a_long_text_one_layer_is_sent() -> None:
    app = open_app("head_view", text="the cat " * 60, layer="4")
    assert set(sent(app)["layers"]) == {"3"}
    # A click in the component: its report reaches the session before the next run.
    app.session_state["_head_view_sent"]["shown"][sent(app)["serial"]]["layer"] = "6"
    pick(app, layer="6")
    assert set(sent(app)["layers"]) == {"5"}
    assert (
        len(conftest.payload(open_app("head_view", text=sentence_of(128)), "head_view")) < 1_000_000
    )


@pytest.mark.parametrize(
    ("link", "heads"),
    [
        ({"heads": "0"}, [0]),
        ({"heads": "0,3"}, [3]),
        ({"heads": "1,2,3,4,5,6,7,8,9,10,11,12"}, []),
        ({"heads": "5,5,2"}, [2, 5]),
        ({"head": "2"}, [2]),  # as in links to the table: shown alone
    ],
)
def test_a_choice_of_heads_is_written_in_one_way(link: dict[str, str], heads: list[int]) -> None:
    app = open_app("head_view", **link)
    assert sent(app)["view"]["heads"] == heads
    assert app.query_params.get("heads", "") == ",".join(map(str, heads))


def test_at_most_one_token_is_pinned_until_a_text_lacks_it() -> None:
    app = open_app("head_view", **{"from": "11,12", "to": "5"})
    assert (sent(app)["view"]["from"], sent(app)["view"]["to"]) == ([11], [])
    app.text_area(key="text").set_value("two words").run()
    assert sent(app)["view"]["from"] == []
    assert not app.exception


def test_pairs_of_a_text_without_a_second_sentence_are_no_control() -> None:
    app = open_app("model_view", **PAIR, filter="ab")
    assert "Pairs" in [group.label for group in app.button_group]
    app.toggle(key="two").set_value(False).run()
    assert "Pairs" not in [group.label for group in app.button_group]
    assert "of 6 × 6 tokens" in said(app)


TIRED = "The animal didn't cross the street because it was too tired."


def test_a_first_visitor_sees_the_pair_that_home_names_until_another_is_picked() -> None:
    found = find_link(core.model.trace_text(core.model.load("bundled/minilm"), TIRED))
    assert found is not None
    app = open_app("neuron_view", text=TIRED)
    place = str(found.layer + 1), str(found.head + 1), str(found.query + 1)
    assert tuple(app.session_state[key] for key in ("layer", "head", "query")) == place
    assert app.selectbox(key="key_token").value == "strongest"
    hints = "\n".join(button.help or "" for button in app.button)
    assert "L1 H3 gives 1.00 to the token before" in hints
    assert f"In L{place[0]} H{place[1]}, `t` gives {found.weight:.2f} to `didn`" in hints
    press_example(app, "neuron_view", "The pair with the lowest score")
    assert app.query_params["key_token"].isdecimal()
    app.text_area(key="text").set_value("A cat.").run()
    assert app.selectbox(key="query").value == "3"
    assert alerts(app) == ""


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
