"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Hashable

# What makes a spreadsheet read a cell as a formula, full-width forms included (OWASP, "CSV
# Injection"), even after blanks. In some countries spreadsheets split a line at semicolons or tabs
# whatever the quotes say, so a cell may begin after each of those too.
_BEGIN = r"(?:^|(?<=[;,\t\r\n]))"
_FORMULA = r"(?=[ ']*[=+\-@\t\r\n＝＋－＠])"
_UNMARKED = re.compile(_BEGIN + _FORMULA)
_MARKED = re.compile(_BEGIN + "'" + _FORMULA)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def to_csv(frame: pd.DataFrame, *, index: bool = True, float_format: str | None = None) -> str:
    r"""The frame as CSV in which text that begins like a formula has an apostrophe before it.

    This holds for cells, column names and row labels. Numbers stay as they are, even those written
    as text, and so does the frame itself. :func:`read_cell` removes the apostrophes. Lines end in
    CRLF (RFC 4180); otherwise a carriage return inside a cell would end its row. Columns may share
    a name; neither axis has levels.

    >>> to_csv(pd.DataFrame({"token": ["=1+1", "it"], "x": [-0.5, 2]}), index=False)
    "token,x\r\n'=1+1,-0.5\r\nit,2.0\r\n"
    """
    marked = frame.copy()
    for place, numeric in enumerate(map(pd.api.types.is_numeric_dtype, frame.dtypes)):
        if not numeric:
            marked.isetitem(place, [_mark(cell) for cell in frame.iloc[:, place]])
    marked.columns = frame.columns.map(_mark)
    marked.index = pd.Index(frame.index.map(_mark), name=_mark(frame.index.name))
    return marked.to_csv(index=index, float_format=float_format, lineterminator="\r\n")


def read_cell(text: str) -> str:
    """The content of a cell of :func:`to_csv` before it was marked.

    >>> read_cell("'=1+1"), read_cell("it's")
    ('=1+1', "it's")
    """
    return _MARKED.sub("", text)


def _mark(value: Hashable) -> Hashable:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return _UNMARKED.sub("'", value)
