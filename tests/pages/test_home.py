"""Home in process: its picture, what is said of it, what a model expects, and the ways on."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.model import load
from core.model.language import text_classes
from core.screens import head_view, home
from core.screens.images import view as images
from core.ui import controls
from tests.model.families import FAMILIES, build
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.conftest import BOOK, said, sent


def test_the_picture_begins_with_the_pair_that_one_head_lifts_over_its_layer() -> None:
    app = open_app("home")
    data = sent(app, "arcs")
    link = {"layer": 3, "head": 1, "query": 10, "key": 4}  # L4 H2, "it" to "book"
    assert link.items() <= data["found"].items()
    assert "6 tokens away; on average, the heads of layer 4 give this" in data["found"]["tail"]
    assert data["view"] == {"layer": "4", "head": 2, "cell": []}
    assert {"layer", "head", "cell"}.isdisjoint(app.query_params)


def test_a_link_opens_the_head_and_the_pair() -> None:
    app = open_app("home", layer="2", head="5", cell="10,5")
    data, usual = sent(app, "arcs"), sent(open_app("home"), "arcs")
    assert data["view"] == {"layer": "2", "head": 5, "cell": [10, 5]}
    # Else each pick would send everything once more.
    assert {name for name in data if not np.array_equal(data[name], usual[name])} == {"view"}
    assert {"layer": "2", "head": "5", "cell": "10,5"}.items() <= app.query_params.items()


def test_what_is_picked_in_the_picture_goes_on_to_other_pages() -> None:
    app = open_app("home")
    for key, value in taken({"layer": "2", "head": 5, "cell": [10, 5]}).items():
        app.session_state[key] = value
    for page, link in (
        ("head_view", {"layer": "2", "heads": "5", "from": "10"}),
        ("neuron_view", {"layer": "2", "head": "5", "query": "10", "key_token": "5"}),
        ("heatmap", {"layer": "2", "head": "5", "cell": "10,5"}),
    ):
        app.switch_page(f"pages/{page}.py").run()
        assert link.items() <= app.query_params.items()


@pytest.mark.parametrize(
    ("view", "report"),
    [
        (home, {}),
        (home, {"layer": 4, "head": 2}),
        (home, {"layer": "<b>", "head": 2}),
        (home, {"layer": "4", "head": 0}),
        (head_view, {}),
        (head_view, {"layer": 4, "heads": "x", "hide": "1"}),
        (images, {"layer": 3, "only_patches": "yes", "other": "x"}),
    ],
)
def test_what_is_no_state_is_not_picked(view: ModuleType, report: dict[str, Any]) -> None:
    assert taken(report, view) == {}
    assert taken({"layer": "4", "head": 2, "cell": [1, 2, 3]})["cell"] == []
    assert taken({"layer": "3", "heads": [1]}, head_view) == {"layer": "3", "heads": [1]}
    assert taken({"patch": "r1c1", "layer": 3}, images) == {"patch": "r1c1"}


def taken(report: dict[str, Any], view: ModuleType = home) -> dict[str, Any]:
    """The controls that a report of a view picks."""
    picked: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(controls, "pick", lambda **values: picked.update(values))
        view.take_report(report)
    return picked


def test_terms_of_reach_say_what_the_layers_of_this_model_do(tmp_path: Path) -> None:
    text = said(open_app("home"))
    assert re.search(r"\*\*global attention\*\*: .*in this model: layers 1–6\.\n", text)
    assert re.search(r"\*\*local attention\*\*: .*in this model: no layer\.\n", text)
    folder = str(build(FAMILIES["modernbert"], tmp_path))
    text = said(open_app("home", model=folder, text=BOOK))
    assert re.search(r"\*\*global attention\*\*: .*in this model: layers 1 and 3\.\n", text)
    assert "in this model: layer 2, at most 4 tokens away." in text


def test_one_word_is_told_what_is_missing_and_has_no_picture_but_doors() -> None:
    app = open_app("home", text="book")
    assert "One word has no other word to attend to." in said(app)
    components = [each.proto.component_name for each in app.get("bidi_component")]
    assert "headscope_arcs" not in components
    pages = [each.proto.page for each in app.get("page_link")]
    doors = ["head_view", "heatmap", "vectors", "projection", "query_key", "anomalies", "images"]
    assert pages[-7:] == doors


def _sections(app: AppTest) -> list[str]:
    return [each.value for each in app.main.header]


def test_a_model_without_a_head_says_so_only_where_it_is_described() -> None:
    app = open_app("home", model="bundled/minilm")
    assert not any("expects" in each or "under" in each for each in _sections(app))
    app.session_state["structure"] = True
    app.run()
    assert "has no language-model head" in said(app)


@pytest.mark.parametrize("labels", [{0: "sad", 1: ":red[x]"}, {0: "stars"}])
def test_a_classifier_names_its_class(labels: dict[int, str], tmp_path: Path) -> None:
    kind = "BertForSequenceClassification"
    build_with_head("bert", kind, tmp_path, stir=0.3, id2label=labels)
    (label, value), *_ = text_classes(load(str(tmp_path)), "The cat sat.")
    app = open_app("home", model=str(tmp_path), text="The cat sat.")
    assert not app.exception
    assert "Which class the model picks" in _sections(app)
    if len(labels) == 1:
        assert f"`stars`: **{value:.3g}**".replace("-", "−") in said(app)
    else:
        (table,) = (each.value for each in app.main.dataframe)
        assert table["class"][0] == label
        assert table["probability"][0] == pytest.approx(value, abs=1e-5)
    app = open_app("effect", model=str(tmp_path), text="The cat sat.")
    assert app.selectbox(key="measure").value == "class"
    assert label.strip(":") in said(app)
