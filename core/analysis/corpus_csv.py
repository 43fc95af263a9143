"""Records of a table in text: which character parts its cells, and what its quotes mean."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from core.analysis.corpus_encoding import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = list[str]
DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 200  # records from which the delimiter is told
_LOOKED_AT_CHARACTERS = 2**16
_STRAY = "Some quotation marks stand where CSV has none; they were read as well as can be."
_UNPAIRED = "Quotation marks do not enclose whole cells, in pairs: they were taken as text."
_END = "\0end"  # no text holds NUL when it comes here

# The csv module's own limit is 131,072 characters a cell; a whole file may be one cell here.
csv.field_size_limit(max(csv.field_size_limit(), MOST_BYTES))


@dataclass(frozen=True)
class Records:
    """The records of a table, blank lines left out; what parts their cells; notes for people."""

    records: list[Record]
    delimiter: str
    notes: tuple[str, ...] = ()


def records(text: str, delimiter: str | None, most: int) -> Records:
    """At most `most` records of a table.

    `delimiter` None is to be found among `DELIMITERS`. Quotes are read as RFC 4180 has them, else
    with backslashes, else leniently; where one is never closed, they are taken as they stand.
    """
    if delimiter is None or delimiter not in text[:_LOOKED_AT_CHARACTERS]:
        delimiter = find_delimiter(text)
    found = _quoted(text, delimiter, most)
    if found is None and '\\"' in text:
        found = _quoted(text, delimiter, most, escaped=True)
    if found is not None:
        return Records(found, delimiter)
    # in tab-separated files quotes are most often part of the text
    found = _lenient(text, delimiter, most) if delimiter != "\t" else None
    if found is not None:
        return Records(found, delimiter, (_STRAY,))
    reader = csv.reader(_lines(text), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return Records(_filled(reader, most), delimiter, (_UNPAIRED,))


def find_delimiter(text: str) -> str:
    """The character that parts a table's cells: the one that gives most records the header's width.

    A comma where none of `DELIMITERS` is in the header.
    """
    sample = text[:_LOOKED_AT_CHARACTERS]
    return max(DELIMITERS, key=lambda delimiter: _fit(sample, delimiter))  # the first of equals


def _fit(sample: str, delimiter: str) -> tuple[float, int]:
    """Share of records as wide as the header, and that width; 0 where the header is one cell."""
    reader = csv.reader(_lines(sample), delimiter=delimiter)
    found = _filled(reader, _LOOKED_AT)
    if not found or len(found[0]) < 2:
        return 0.0, 0
    width = len(found[0])
    return Counter(map(len, found))[width] / len(found), width


def _quoted(text: str, delimiter: str, most: int, *, escaped: bool = False) -> list[Record] | None:
    """The records where every quotation mark is well placed, else None."""
    reader = csv.reader(
        _lines(text),
        delimiter=delimiter,
        strict=True,
        doublequote=not escaped,
        escapechar="\\" if escaped else None,
    )
    try:
        return _filled(reader, most)
    except csv.Error:
        return None


def _lenient(text: str, delimiter: str, most: int) -> list[Record] | None:
    """The records with stray quotation marks kept; None where a cell is open at the end."""
    reader = csv.reader(chain(_lines(text), [_END]), delimiter=delimiter)
    found = _filled(reader, most + 1)
    if found[-1] == [_END]:
        return found[:-1]
    return found[:most] if len(found) > most else None


def _lines(text: str) -> Iterator[str]:
    """Lines as the csv module wants them: with their ends, parted at CR, LF and CRLF alone."""
    return iter(io.StringIO(text, newline=""))


def _filled(reader: Iterator[Record], most: int) -> list[Record]:
    """All records but blank lines."""
    return list(islice((r for r in reader if len(r) > 1 or (r and r[0].strip())), most))
