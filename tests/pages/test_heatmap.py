"""The heatmap page: its controls, its link, its sentence under the table."""

from __future__ import annotations

import pytest

from tests.opening import open_app
from tests.pages.conftest import alerts, pick, said


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({}, "Rows add up to 1; a column"),
        ({"head": "max"}, "Rows add up to 1."),
        ({"hide": "1"}, "Special tokens hidden: 2."),
        ({"values": "scores", "head": "3"}, "softmax turns a row of one head, special tokens"),
    ],
)
def test_the_sentence_under_the_table_is_true_for_what_is_shown(
    state: dict[str, str], sentence: str
) -> None:
    assert sentence in said(open_app("heatmap", **state))


def test_impossible_values_are_reported_once_and_replaced() -> None:
    link = {"layer": "999", "head": "13", "values": "<script>", "words": "yes"}
    app = open_app("heatmap", **link)
    for key, value in link.items():
        assert f"asks for {key} `{value}`" in alerts(app)
        assert app.query_params[key] != value
    assert "bundled/minilm has 6 layers: `mean`, `1`, `2`, `3`, `4`, `5`, `6`" in alerts(app)
    assert "bundled/minilm has 12 heads a layer" in alerts(app)
    assert (app.session_state["layer"], app.session_state["head"]) == ("4", "2")
    pick(app, head="3")
    assert alerts(app) == ""
