"""The CSV files of all pages: what a visitor typed is text in them."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Callable


FILES = {
    "heatmap": r"heatmap-{}-L\d.*\.csv",
    "vectors": r"vectors-{}-mean-head\.csv",
    "anomalies": r"anomalies-{}\.csv",
    "patterns": r"patterns-{}\.csv",
    "effect": r"effect-{}\.csv",
    "projection": r"projection-{}-.*-on-.*\.csv",
}
TOKENS = {"heatmap", "vectors", "anomalies"}  # files that hold tokens
TEXT = "=cmd|' /C calc'!A0 +1+1 @SUM -x"
NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?|nan")
CAUSAL = "bundled/gpt2-novels"  # its heads rest on the first token, so that tables name it


Rows = list[list[str]]


@pytest.fixture
def rows_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Rows]:
    """The rows of the CSV that a page offers; the first says what it holds."""
    files: dict[str, str] = {}
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            files[file_name] = data()
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)

    def read(page: str, **link: str) -> Rows:
        assert not open_app(page, **link).exception
        (name,) = files
        model = link.get("model", "bundled/minilm").split("/")[1]
        assert re.fullmatch(FILES[page].format(re.escape(model)), name)
        rows = list(csv.reader(io.StringIO(files[name], newline="")))
        assert rows[0][0].startswith("\ufeff# {")
        return rows

    return read


@pytest.mark.parametrize("page", FILES)
@pytest.mark.parametrize("model", ["bundled/minilm", CAUSAL])
def test_no_cell_of_a_file_begins_as_a_formula(
    rows_of: Callable[..., Rows], page: str, model: str
) -> None:
    cells = [cell for row in rows_of(page, text=TEXT, model=model) for cell in row]
    words = [cell for cell in cells if not NUMBER.fullmatch(cell)]
    assert not [cell for cell in words if cell.lstrip().startswith(("=", "+", "-", "@"))]
    if page in TOKENS and model == CAUSAL:
        assert "=" in {cell[1:2] for cell in words if cell.startswith("'")}


@pytest.mark.parametrize("page", ["heatmap", "vectors"])
def test_what_was_typed_can_be_read_back(rows_of: Callable[..., Rows], page: str) -> None:
    rows = rows_of(page, text="= + @ - it")[1:]
    column = 0 if page == "heatmap" else rows[0].index("token")
    tokens = [row[column].removeprefix("'") for row in rows[1:]]
    assert [token for token in tokens if token[0] != "["][:5] == ["=", "+", "@", "-", "it"]
    if page == "heatmap":
        assert [cell.removeprefix("'") for cell in rows[0][1:]] == tokens


def test_the_projection_has_a_row_a_layer_with_every_head(rows_of: Callable[..., Rows]) -> None:
    header, *layers = rows_of("projection", text="Oh, this book? I've enjoyed it.")[1:]
    assert [row[0] for row in layers] == ["1", "2", "3", "4", "5", "6"]
    fourth = dict(zip(header, map(float, layers[3]), strict=True))
    assert fourth["a_to_b_h2"] == pytest.approx(0.932, abs=5e-4)  # of "it" to "book", in L4 H2
    across = fourth["a_x"] * fourth["b_x"] + fourth["a_y"] * fourth["b_y"]
    assert fourth["along_in_plane"] == pytest.approx(across, abs=2e-6)  # both have length 1
    assert fourth["a_along_b_x"] == pytest.approx(across * fourth["b_x"], abs=2e-6)
    assert sum(name.startswith("b_to_a_h") for name in header) == 12
