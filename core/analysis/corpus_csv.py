"""Records of a table in text: which character parts its cells, and what its quotes mean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from core.analysis.corpus_encoding import CorpusFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = list[str]
DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 200  # records from which the delimiter is told
_LOOKED_AT_CHARACTERS = 2**16
_STRAY = "Some quotation marks stand where CSV has none; they were read as well as can be."
_UNPAIRED = "Quotation marks do not enclose whole cells, in pairs: they were taken as text."
_END = "\0end"  # no text holds NUL when it comes here

# Characters: more than the longest models could use of a text. The csv module takes four bytes and
# more for each while it reads a cell.
MOST_CELL = 2**23
# Of a file that are read: 60 bytes each beside their characters. A table of texts of 20 MB has a
# tenth of it; one of small numbers would take thirty times the memory of its file.
MOST_CELLS = 1_500_000
csv.field_size_limit(max(csv.field_size_limit(), MOST_CELL))
_LINE = re.compile("[^\r\n]+(?:\r\n|\n|\r)?|\r\n|\n|\r")


@dataclass(frozen=True)
class Records:
    """The records of a table, blank lines left out; what parts their cells; notes for people."""

    records: list[Record]
    delimiter: str
    notes: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether `MOST_CELLS` was the end of it, at a record that has more than the rest."""
        return sum(map(len, self.records)) > MOST_CELLS


def records(text: str, delimiter: str | None, most: int, name: str) -> Records:
    """At most `most` records of a table.

    `delimiter` None is to be found among `DELIMITERS`. Quotes are read as RFC 4180 has them, else
    with backslashes, else leniently; where one is never closed, they are taken as they stand.
    `name` is the file's, for messages.

    Raises
    ------
    CorpusFileError
        When a cell has more than `MOST_CELL` characters.
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
    try:
        return Records(_filled(reader, most), delimiter, (_UNPAIRED,))
    except csv.Error as error:
        raise CorpusFileError(too_long("cell", name, MOST_CELL)) from error


def too_long(what: str, name: str, most: int) -> str:
    """The sentence for a cell or a line that cannot be read."""
    return (
        f"A {what} of {name} has more than {most:,} characters, and no model takes so many."
        " Put a sentence or a paragraph into each."
    )


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
    try:
        found = _filled(reader, most + 1)
    except csv.Error:  # a cell that is longer than any may be: a quote that is never closed
        return None
    if found[-1] == [_END]:
        return found[:-1]
    return found[:most] if len(found) > most or sum(map(len, found)) > MOST_CELLS else None


def _lines(text: str) -> Iterator[str]:
    """Lines as the csv module wants them: with their ends, parted at CR, LF and CRLF alone."""
    return (match.group() for match in _LINE.finditer(text))


def _filled(reader: Iterator[Record], most: int) -> list[Record]:
    """Records without blank lines, at most so many, and no more than `MOST_CELLS` allows."""
    found: list[Record] = []
    cells = 0
    for record in reader:
        if len(record) > 1 or (record and record[0].strip()):
            found.append(record)
            cells += len(record)
            if len(found) == most or cells > MOST_CELLS:
                break
    return found
