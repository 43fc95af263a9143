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


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_nothing_begins_as_a_formula_and_only_apostrophes_are_added(cells: list[str]) -> None:
    written = [row[1] for row in rows_of(to_csv(pd.DataFrame({"t": cells})))[1:]]
    plain = [cell.replace("'", "") for cell in cells]
    assert [cell.replace("'", "") for cell in written] == plain
    for cell in written:
        is_number = cell.lstrip("+-")[:1].isdigit() or cell.lstrip("+-")[:1] == "."
        assert is_number or not cell.lstrip(" ").startswith(tuple(STARTS))
