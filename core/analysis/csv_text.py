"""CSV that a spreadsheet displays but does not execute, with a first line that describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What makes a spreadsheet read a cell as a formula, full-width forms included (OWASP, "CSV
# Injection"), even after blanks. In some locales spreadsheets split a line at semicolons or tabs
# even within quotes, so a cell may begin after any of these too.
_BEGIN = r"(?:^|(?<=[;,\t\r\n]))"
_FORMULA = r"(?=[ ']*[=+\-@\t\r\n＝＋－＠])"
_UNMARKED = re.compile(_BEGIN + _FORMULA)
# Within a line of JSON: strings, an escaped character in one, and where a cell may begin there.
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPED = re.compile(r"\\(.)")
_SPLIT = re.compile(r"(?<=[;,])([ ']*)([=+\-@])")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def to_csv(
    frame: pd.DataFrame,
    facts: Mapping[str, Any] | None = None,
    *,
    index: bool = True,
    float_format: str | None = None,
) -> str:
    r"""The frame as CSV, with an apostrophe in front of text that begins like a formula.

    This applies to cells, column names and row labels. Numbers stay as they are, even those written
    as text, and so does the frame itself. Lines end in CRLF (RFC 4180); otherwise a carriage return
    inside a cell would end its row. Columns may share a name; neither axis may have levels. `facts`
    are written before it as a :func:`comment`.

    >>> import pandas as pd
    >>> to_csv(pd.DataFrame({"token": ["=1+1", "it"], "x": [-0.5, 2]}), index=False)
    "token,x\r\n'=1+1,-0.5\r\nit,2.0\r\n"
    """
    import pandas as pd

    marked = frame.copy()
    for place, numeric in enumerate(map(pd.api.types.is_numeric_dtype, frame.dtypes)):
        if not numeric:
            marked.isetitem(place, [_mark(cell) for cell in frame.iloc[:, place]])
    marked.columns = frame.columns.map(_mark)
    marked.index = pd.Index(frame.index.map(_mark), name=_mark(frame.index.name))
    rows = marked.to_csv(index=index, float_format=float_format, lineterminator="\r\n")
    return rows if facts is None else f"{comment(facts)}\r\n{rows}"


def comment(facts: Mapping[str, Any]) -> str:
    r"""One line: ``#``, a blank, and the facts as JSON in ASCII.

    Line ends, quotes and characters that start a formula are escaped, so that every reader finds
    one line, and no spreadsheet finds a cell to execute.

    >>> comment({"text": 'a "b"\n,=c'})
    '# {"text": "a \\u0022b\\u0022\\n,\\u003dc"}'
    """
    return "# " + _TEXT.sub(lambda text: _harmless(text[0]), json.dumps(facts))


def _harmless(text: str) -> str:
    """A JSON string, with escapes for whatever might confuse a CSV reader."""
    unquoted = _ESCAPED.sub(lambda each: r"\u0022" if each[1] == '"' else each[0], text)
    return _SPLIT.sub(lambda each: f"{each[1]}\\u{ord(each[2]):04x}", unquoted)


def _mark(value: Hashable) -> Hashable:
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return _UNMARKED.sub("'", value)
