"""The CSV files of all pages: what a visitor typed is text in them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from core.analysis.csv_text import read_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

FILES = {
    "heatmap": "attention.csv",
    "vectors": "vectors.csv",
    "anomalies": "anomalies.csv",
    "patterns": "head_patterns.csv",
}
TOKENS = {"heatmap", "vectors", "anomalies"}  # files that hold tokens
TEXT = "=cmd|' /C calc'!A0 +1+1 @SUM -x"
CAUSAL = "bundled/gpt2-novels"  # its heads rest on the first token, so that tables name it


@pytest.fixture
def rows_of(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[list[str]]]:
    """The rows of the CSV that a page offers."""
    files: dict[str, str] = {}
    original = st.download_button

    def offer(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            files[file_name] = data()
        return original(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", offer)

    def open_page(page: str, **link: str) -> list[list[str]]:
        app = open_app(page, **link)
        assert not app.exception
        return list(csv.reader(io.StringIO(files[FILES[page]], newline="")))

    return open_page


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("page", FILES)
@pytest.mark.parametrize("model", ["bundled/minilm", CAUSAL])
def test_no_cell_of_a_file_begins_as_a_formula(
    rows_of: Callable[..., list[list[str]]], page: str, model: str
) -> None:
    rows = rows_of(page, text=TEXT, model=model)
    cells = [cell for row in rows for cell in row if not is_number(cell)]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    tokens = {cell for cell in cells if cell.startswith("'") and cell != read_cell(cell)}
    if page in TOKENS and model == CAUSAL:
        assert {"="} <= {read_cell(cell)[:1] for cell in tokens}


@pytest.mark.parametrize("page", ["heatmap", "vectors"])
def test_what_was_typed_can_be_read_back(
    rows_of: Callable[..., list[list[str]]], page: str
) -> None:
    rows = rows_of(page, text="= + @ - it")
    where = 0 if page == "heatmap" else rows[0].index("token")
    tokens = [read_cell(row[where]) for row in rows[1:]]
    assert [token for token in tokens if not token.startswith("[")][:5] == [
        "=",
        "+",
        "@",
        "-",
        "it",
    ]
    if page == "heatmap":
        assert [read_cell(cell) for cell in rows[0][1:]] == tokens
