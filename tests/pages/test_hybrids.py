"""Pages of a model of which only layers 3 and 6 of 8 attend: people read the model's numbers."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import streamlit as st

from tests.opening import open_app
from tests.pages.conftest import ATTEND, alerts, model_facts, sent, steppers

if TYPE_CHECKING:
    from collections.abc import Callable
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
def test_the_picker_has_the_layers_that_attend_and_begins_with_one_of_them(
    hybrid: Callable[..., AppTest], page: str
) -> None:
    app = hybrid(page)
    options = steppers(app)["layer"]
    assert [option for option in options if option != "mean"] == ["3", "6"]
    assert app.session_state["layer"] == app.query_params["layer"]
    assert app.query_params["layer"] in options
    assert "Only 2 of its 8 layers attend: 3 and 6." in model_facts(app)


def test_a_link_to_a_layer_that_does_not_attend_names_those_that_do(
    hybrid: Callable[..., AppTest],
) -> None:
    app = hybrid("heatmap", layer="4")
    assert re.search(r"asks for layer `4`\. .* has 2 layers that attend: ", alerts(app))
    shown = app.query_params["layer"]
    assert f"`3`, `6`. `{shown}` is shown instead." in alerts(app)


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


def test_the_model_view_gets_numbers_and_gaps(
    hybrid: Callable[..., AppTest],
) -> None:
    view = sent(hybrid("model_view"), "model_view")
    assert view["layerLabels"] == [3, 6]
    assert view["gaps"] == [[0, "1–2"], [1, "4–5"], [2, "7–8"]]


def test_the_head_view_gets_numbers_and_the_layer_asked_for(
    hybrid: Callable[..., AppTest],
) -> None:
    view = sent(hybrid("head_view", layer="3"), "head_view")
    assert (view["layerLabels"], view["depth"], view["view"]["layer"]) == ([3, 6], 8, "3")
    assert list(view["layers"]) == ["0", "1"]
