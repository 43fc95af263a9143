"""Pages of a model of which only layers 3 and 6 of 8 attend: people read the model's numbers."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import streamlit as st

from core.ui import presets
from tests.opening import open_app
from tests.pages.conftest import ATTEND, alerts, model_facts, said, sent, steppers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

TEXT = "The cat sat on the mat because it was tired of the long, long walk home."
PICKERS = ("heatmap", "query_key", "neuron_view", "patterns")


@pytest.fixture
def hybrid(hybrid_folder: Path) -> Callable[..., AppTest]:
    """Open a page with the hybrid and a text."""

    def open_page(page: str, **link: str) -> AppTest:
        return open_app(page, model=str(hybrid_folder), text=TEXT, **link)

    return open_page


@pytest.mark.parametrize("page", PICKERS)
def test_the_picker_has_the_layers_that_attend_and_begins_with_the_last(
    hybrid: Callable[..., AppTest], page: str
) -> None:
    app = hybrid(page)
    options = steppers(app)["layer"]
    assert [option for option in options if option != "mean"] == ["3", "6"]
    assert (app.session_state["layer"], app.query_params["layer"]) == ("6", "6")
    assert "Only 2 of its 8 layers attend: 3 and 6." in model_facts(app)


def test_a_link_has_the_model_s_number_and_names_the_head_by_it(
    hybrid: Callable[..., AppTest],
) -> None:
    app = hybrid("query_key", layer="3", head="2", part="picture")
    assert "L3 H2: Euclidean distance" in said(app)
    assert app.query_params["layer"] == "3"


def test_a_link_to_a_layer_that_does_not_attend_names_those_that_do(
    hybrid: Callable[..., AppTest],
) -> None:
    app = hybrid("heatmap", layer="4")
    assert re.search(r"asks for layer `4`\. .* has 2 layers that attend: ", alerts(app))
    assert "`3`, `6`. `6` is shown instead." in alerts(app)
    assert app.query_params["layer"] == "6"


@pytest.mark.parametrize("page", ["anomalies", "patterns", "vectors"])
def test_files_have_the_model_s_numbers(
    hybrid: Callable[..., AppTest], page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[str] = []
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            files.append(data())
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)
    hybrid(page)
    (file,) = files
    table = pd.read_csv(io.StringIO(file), skiprows=1)  # the first line says what the file holds
    assert sorted(set(table["layer"])) == list(ATTEND)


def test_hidden_states_are_named_by_the_layers_that_they_leave(
    hybrid: Callable[..., AppTest],
) -> None:
    app = hybrid("anomalies", anomaly="states")
    assert re.search(r"after layer [258]\b", said(app))
    assert "the input of a layer that attends; the last row is the model's output" in said(app)


def test_the_model_view_gets_numbers_and_gaps_and_hides_layers_by_number(
    hybrid: Callable[..., AppTest],
) -> None:
    view = sent(hybrid("model_view", off_layers="3"), "model_view")
    assert view["layerLabels"] == [3, 6]
    assert view["gaps"] == [[0, "1–2"], [1, "4–5"], [2, "7–8"]]
    assert view["hidden"]["layers"] == [0]


def test_the_head_view_gets_numbers_and_the_layer_asked_for(
    hybrid: Callable[..., AppTest],
) -> None:
    view = sent(hybrid("head_view", layer="3"), "head_view")
    assert (view["layerLabels"], view["depth"], view["view"]["layer"]) == ([3, 6], 8, "3")
    assert list(view["layers"]) == ["0", "1"]


@pytest.mark.parametrize(
    "page",
    ["heatmap", "vectors", "query_key", "head_view", "neuron_view", "patterns", "anomalies"],
)
def test_examples_choose_only_layers_that_attend(
    hybrid: Callable[..., AppTest], page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[presets.Preset] = []

    def note(make: Callable[[], Sequence[presets.Preset]], **_: object) -> None:
        made.extend(make())

    monkeypatch.setattr(presets, "show", note)
    hybrid(page)
    asked = [preset.state["layer"] for preset in made if "layer" in preset.state]
    assert asked
    assert set(asked) <= {"3", "6"}
    named = re.findall(r"\bL(\d+) H|[Ll]ayer (\d+)", " ".join(each.sentence for each in made))
    assert {int(one or other) for one, other in named} <= set(ATTEND)
