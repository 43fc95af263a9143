"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.csv_text import to_csv

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-x", "\t=1", "\r=1", " =1+1", "＝1+1", "'=1")
STARTS = "=+-@\t\r\n＝＋－＠"
TEXTS = st.text("ab1.' ;,\"=+-@\t\r\n＝", max_size=8)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_written_as_text_wherever_it_stands(formula: str) -> None:
    index = pd.Index([formula], name=formula)
    ((name, column), (label, cell)) = rows_of(to_csv(pd.DataFrame({formula: [formula]}, index)))
    inner = formula.replace("\t=", "\t'=").replace("\r=", "\r'=")  # may begin a cell as well
    assert {name, column, label, cell} == {"'" + inner}


def test_numbers_stay_numbers() -> None:
    frame = pd.DataFrame(
        {"x": [-0.5, np.nan], "n": [-3, 4], "t": ["-0.5", "+1e-3"], "b": [True, False]}
    )
    assert to_csv(frame, index=False, float_format="%.2f") == (
        "x,n,t,b\r\n-0.50,-3,-0.5,True\r\n,4,+1e-3,False\r\n"
    )


@pytest.mark.parametrize(
    "text", ["it", "it's", "a-b", "[CLS]", "##y", "1=1", "", "don't;stop", "−1"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert rows_of(to_csv(pd.DataFrame({"token": [text, "x"]}), index=False))[1:] == [
        [text],
        ["x"],
    ]


def test_a_cell_may_begin_behind_a_semicolon_too() -> None:
    """Where a comma is part of a number, spreadsheets split lines at semicolons."""
    assert to_csv(pd.DataFrame({"word": ["a;=1+1"]}), index=False) == "word\r\na;'=1+1\r\n"


def test_columns_of_the_same_name_and_the_frame_itself_stay() -> None:
    frame = pd.DataFrame([["=a", 1.5, "=b"]], columns=["it", "it", "it"])
    before = frame.copy()
    assert rows_of(to_csv(frame, index=False)) == [["it", "it", "it"], ["'=a", "1.5", "'=b"]]
    pd.testing.assert_frame_equal(frame, before)


def test_a_table_without_rows_or_columns_is_written() -> None:
    assert to_csv(pd.DataFrame({"-x": []}), index=False) == "'-x\r\n"
    assert rows_of(to_csv(pd.DataFrame(index=["=a"]))) == [[""], ["'=a"]]


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_nothing_begins_as_a_formula_and_only_apostrophes_are_added(cells: list[str]) -> None:
    written = [row[1] for row in rows_of(to_csv(pd.DataFrame({"t": cells})))[1:]]
    plain = [cell.replace("'", "") for cell in cells]
    assert [cell.replace("'", "") for cell in written] == plain
    for cell in written:
        is_number = cell.lstrip("+-")[:1].isdigit() or cell.lstrip("+-")[:1] == "."
        assert is_number or not cell.lstrip(" ").startswith(tuple(STARTS))
