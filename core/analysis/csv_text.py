"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Hashable

# What makes a spreadsheet read a cell as a formula, full-width forms included (OWASP, "CSV
# Injection"), also behind blanks. Some countries' spreadsheets split a line at semicolons or tabs
# whatever the quotes say, so a cell may begin behind each of those too.
_BEGIN = r"(?:^|(?<=[;,\t\r\n]))"
_FORMULA = r"(?=[ ']*[=+\-@\t\r\n＝＋－＠])"
_TO_MARK = re.compile(_BEGIN + _FORMULA)
_MARKED = re.compile(_BEGIN + "'" + _FORMULA)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def to_csv(frame: pd.DataFrame, *, index: bool = True, float_format: str | None = None) -> str:
    r"""The frame as CSV in which no text begins as a formula does: an apostrophe stands before it.

    That holds for cells, column names and labels of rows. Numbers stay as they are, also those
    that are written as text, and so does the frame. :func:`read_cell` takes the apostrophes off.
    Lines end in CRLF (RFC 4180): with less, a carriage return inside a cell would end its row.

    Parameters
    ----------
    frame : columns may have the same name; neither axis has levels.
    index, float_format : as in :meth:`pandas.DataFrame.to_csv`.

    >>> to_csv(pd.DataFrame({"token": ["=1+1", "it"], "x": [-0.5, 2]}), index=False)
    "token,x\r\n'=1+1,-0.5\r\nit,2.0\r\n"
    """
    columns = [_mark_column(frame.iloc[:, place]) for place in range(frame.shape[1])]
    shown = pd.concat(columns, axis=1) if columns else frame.copy()
    shown.columns = pd.Index([_mark(name) for name in frame.columns])
    labels = [_mark(label) for label in frame.index]
    shown.index = pd.Index(labels, name=_mark(frame.index.name))
    return shown.to_csv(index=index, float_format=float_format, lineterminator="\r\n")


def read_cell(text: str) -> str:
    """What stood in a cell of :func:`to_csv` before it was marked.

    >>> read_cell("'=1+1"), read_cell("it's")
    ('=1+1', "it's")
    """
    return _MARKED.sub("", text)


def _mark_column(column: pd.Series) -> pd.Series:
    return column if pd.api.types.is_numeric_dtype(column) else column.map(_mark)


def _mark(value: Hashable) -> Hashable:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return _TO_MARK.sub("'", value)
