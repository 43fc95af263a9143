"""Columns of strings from text: lines, comma- or tab-separated values, or JSON lines."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.corpus.decoding import CorpusFileError, counted, without_surrogates
from core.vocabulary import unique_labels

Notes = tuple[str, ...]
NO_ROW = (
    "{line that is not a JSON object or string was|lines that are not JSON objects or strings were}"
    " left out."
)
REPLACED = (
    "{half of a character (a lone surrogate) was|halves of characters (lone surrogates) were}"
    " replaced by �."
)
_SHORTER = "{row is|rows are} shorter than the header: {its|their} missing cells are empty."
_LONGER = (
    "{row is|rows are} longer than the header: {its|their} extra cells are in columns without a"
    " name."
)

MAX_ROWS = 500_000  # ten times the tokens of the largest atlas; bounds the memory of tiny rows
MAX_COLUMNS = 1_000  # that a menu can list; a file with more is not a table of texts
MAX_NAME = 80  # characters of a column's or a file's name

# Characters in a cell: more than the longest models can use. The csv module takes at least four
# bytes per character while reading a cell.
_MAX_CELL = 2**23
# Cells in a file, 60 bytes each besides their characters: ten times a table of texts of 20 MB. A
# table of small numbers would otherwise take thirty times the memory of its file.
_MAX_CELLS = 1_500_000
_MAX_FILLED = 5 * 2**20  # cells, including missing ones, eight bytes each
_MAX_LINE = 3 * 2**22  # characters of JSON, where an escape can take six for one
_MAX_NESTED = 2**22  # characters of a line with lists or objects, which take ten times the memory
_MAX_HEADER = 60  # characters; a longer name, or one that ends like a sentence, is a text
_TEXT_NAMES = (
    *("text", "texts", "sentence", "sentences", "content", "body", "review", "comment", "message"),
    *("document", "tweet", "utterance", "passage", "paragraph", "article", "line", "question"),
)
_DELIMITERS = (",", ";", "\t", "|")
_LINE_END = re.compile("\r\n|\n|\r")  # no others: a text may contain U+2028, form feeds and so on
_LINE = re.compile("[^\r\n]+(?:\r\n|\n|\r)?|\r\n|\n|\r")
_NESTED = re.compile(r"[:\[,]\s*[\[{]")  # a long text that contains this is refused, too
_SENTENCE = re.compile(r"\w.*\s.*[.!?…。！？][\"'”’»)]*", re.DOTALL)
_AS_WRITTEN = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))


class NoObjectError(CorpusFileError):
    """A file of JSON lines with this many `lines`, none of them an object or a string."""

    def __init__(self, name: str, lines: int) -> None:
        super().__init__(
            f"No line of {name} is a JSON object or a string (it has {lines:,}). "
            'Write one per line, such as {"text": "It rains."}, or save plain sentences as .txt.'
        )
        self.name, self.lines = name, lines


@dataclass(frozen=True)
class CorpusTable:
    """A file as a table of strings."""

    name: str  # the file's name, for messages
    columns: tuple[str, ...]  # all different, none empty; just "text" for lines of text
    cells: tuple[tuple[str, ...], ...]  # (column, row), with at least one row
    notes: Notes  # sentences for the page on what was left out, replaced or guessed

    @property
    def text_column(self) -> str:
        """A column with a typical name for texts, else the one with the longest texts."""
        sizes = [sum(map(len, column)) for column in self.cells]
        filled = [name for name, size in zip(self.columns, sizes, strict=True) if size]
        by_name = {name.casefold(): name for name in filled}
        usual = [by_name[name] for name in _TEXT_NAMES if name in by_name]
        return usual[0] if usual else self.columns[sizes.index(max(sizes))]

    def column(self, name: str) -> tuple[str, ...]:
        """The cells of one column; `CorpusFileError` if there is none with this name."""
        if name not in self.columns:
            names = ", ".join(self.columns[:5]) + (", …" if len(self.columns) > 5 else "")
            raise CorpusFileError(
                f"{self.name} has no column called “{shortened(name)}”. Choose one of: {names}."
            )
        return self.cells[self.columns.index(name)]


def shortened(name: str) -> str:
    """A name that fits into a message: one line, of limited length."""
    line = "".join(char if char.isprintable() else " " for char in name[: MAX_NAME + 1])
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def lines_of(text: str) -> tuple[list[str], Notes]:
    """Lines without their line ends, at most `MAX_ROWS`, and a note if there are more."""
    lines = _LINE_END.split(text, maxsplit=MAX_ROWS)
    last = lines.pop() if len(lines) > MAX_ROWS or not lines[-1] else ""
    return lines, _rows_note("lines") if last else ()


def from_csv(text: str, delimiter: str | None, name: str) -> CorpusTable:
    """A table with a header; short rows are filled with empty cells, long ones get extra columns.

    If `delimiter` is None, it is the one most common in the header; `name` is the file's, for
    messages. pandas would guess it (``sep=None``), but splits a lone column "text" at its "t", and
    takes the first cell of a row that is too long for an index.
    """
    header_line = text.lstrip("\r\n").partition("\n")[0]
    if delimiter is None or delimiter not in header_line:
        delimiter = max(_DELIMITERS, key=header_line.count)
    (header, *rows), notes = _records(text, delimiter, name)
    if len(header) + sum(map(len, rows)) > _MAX_CELLS and len(rows) > 1:
        rows.pop()
        notes += _cells_note(len(rows))
    if any(map(_is_text, header)):
        rows, header = [header, *rows], [""] * len(header)
        notes += ("The first row reads like text, not like column names: it is kept as text.",)
    if not rows:
        names = shortened(", ".join(_names(header)))
        raise CorpusFileError(f"{name} has a header ({names}) and no row below it: add rows to it.")
    if len(rows) > MAX_ROWS:
        del rows[MAX_ROWS:]
        notes += _rows_note("rows")
    if len(header) == 1:  # the commas of a single column need no quotes
        rows = [[delimiter.join(row)] for row in rows]
    return _filled(header, rows, notes, name)


def from_jsonl(text: str, name: str) -> CorpusTable:
    """A JSON object per line, its keys the columns; or a string per line, in a column "text".

    Numbers stay as written, nested values are written as JSON, null becomes an empty cell. Lines
    that are neither objects nor strings are left out.
    """
    lines, notes = lines_of(text)
    columns: dict[str, list[str]] = {}
    rows = bad = cells = 0
    for line in filter(str.strip, lines):
        row = _json_row(line, name)
        if row is None:
            bad += 1
            continue
        for key, cell in row.items():
            column = columns.setdefault(key, [])
            column += [*[""] * (rows - len(column)), cell]
        rows, cells = rows + 1, cells + len(row)
        _check_shape(rows, len(columns), name)
        if cells > _MAX_CELLS:
            notes = _cells_note(rows)
            break
    if not columns:
        raise NoObjectError(name, bad + rows)
    notes += counted(bad, NO_ROW)
    table = from_values(columns, name)
    return replace(table, notes=notes + table.notes)


def from_values(columns: dict[str, list[Any]], name: str) -> CorpusTable:
    """Columns by name, padded, and emptied one by one; values that are not text become JSON."""
    names, replaced = _sound(columns)
    rows, complete = max(map(len, columns.values())), []
    for key in list(columns):
        column = columns.pop(key)
        sound, count = _sound(map(_as_text, [*column, *[""] * (rows - len(column))]))
        complete.append(sound)
        replaced += count
    return CorpusTable(name, _names(names), tuple(complete), counted(replaced, REPLACED))


def _records(text: str, delimiter: str, name: str) -> tuple[list[list[str]], Notes]:
    """Header and rows without blank lines, at most one row too many, and a note on quotes.

    Quotation marks are read as in RFC 4180; those that do not follow it are text.
    """

    def read(quoting: Literal[0, 3]) -> list[list[str]]:
        lines = (match.group() for match in _LINE.finditer(text))
        strict = quoting != csv.QUOTE_NONE
        return _bounded(csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=strict))

    with contextlib.suppress(csv.Error):
        return read(csv.QUOTE_MINIMAL), ()
    try:
        records = read(csv.QUOTE_NONE)
    except csv.Error as error:
        raise _too_long("cell", name, _MAX_CELL) from error
    return records, ("Quotation marks do not enclose whole cells in pairs: they are kept as text.",)


def _bounded(reader: Iterator[list[str]]) -> list[list[str]]:
    """Non-blank records, until there are more rows or cells than may be kept."""
    records: list[list[str]] = []
    cells = 0
    for record in itertools.islice(reader, 2 * MAX_ROWS):
        if len(record) > 1 or (record and record[0].strip()):
            records.append(record)
            cells += len(record)
            if len(records) > MAX_ROWS + 1 or cells > _MAX_CELLS:
                break
    return records


def _filled(header: list[str], rows: list[list[str]], notes: Notes, name: str) -> CorpusTable:
    """Columns of equal length, as many as the longest row has."""
    width = max(len(header), *map(len, rows))
    _check_shape(len(rows), width, name)
    notes += counted(sum(len(row) < len(header) for row in rows), _SHORTER)
    notes += counted(sum(len(row) > len(header) for row in rows), _LONGER)
    names = _names([*header, *[""] * (width - len(header))])
    cells = (tuple([row[i] if i < len(row) else "" for row in rows]) for i in range(width))
    return CorpusTable(name, names, tuple(cells), notes)


def _json_row(line: str, name: str) -> dict[str, str] | None:
    """The cells of a line by key; None if it is neither an object nor a string."""
    if len(line) > _MAX_LINE:
        raise _too_long("line", name, _MAX_LINE)
    if len(line) > _MAX_NESTED and _NESTED.search(line.lstrip(), 1):
        raise _too_long("line with lists in it", name, _MAX_NESTED)
    try:
        row = _AS_WRITTEN.decode(line)
        if isinstance(row, str):  # bare numbers have become strings here, too
            return {"text": row} if line.lstrip().startswith('"') else None
        if not isinstance(row, dict):
            return None
        if any(isinstance(value, dict | list) for value in row.values()):
            nested = json.loads(line)  # parsed again, with numbers as numbers
            row = {k: nested[k] if isinstance(v, dict | list) else v for k, v in row.items()}
    except (ValueError, RecursionError):
        return None
    return {key: _as_text(value) for key, value in row.items()}


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _sound(column: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """The column without NULs and lone surrogates, which escapes can write; how many surrogates."""
    column = tuple(column)
    if all(cell.isascii() and "\0" not in cell for cell in column):  # almost always true, and fast
        return column, 0
    pairs = [without_surrogates(cell) for cell in column]
    return tuple(cell.replace("\0", "") for cell, _ in pairs), sum(count for _, count in pairs)


def _is_text(cell: str) -> bool:
    """Whether a cell of the first row looks like a text rather than a column name."""
    return len(cell) > _MAX_HEADER or _SENTENCE.fullmatch(cell.strip()) is not None


def _names(header: Iterable[str]) -> tuple[str, ...]:
    """Short, non-empty, unique column names."""
    names = (shortened(name.strip()).strip() for name in header)
    return unique_labels(tuple(name or f"column {i}" for i, name in enumerate(names, start=1)))


def _check_shape(rows: int, columns: int, name: str) -> None:
    if columns > MAX_COLUMNS:
        raise CorpusFileError(
            f"{name} has {columns:,} columns or more; the limit is {MAX_COLUMNS:,}. "
            "Keep those with the text and its label."
        )
    if rows * columns > _MAX_FILLED:
        raise CorpusFileError(
            f"{name} has {rows:,} rows and {columns:,} columns in all, mostly empty. "
            "Keep the columns with the text and its label."
        )


def _too_long(what: str, name: str, limit: int) -> CorpusFileError:
    return CorpusFileError(
        f"A {what} of {name} has more than {limit:,} characters, and no model takes so many."
        " Put one sentence or paragraph into each."
    )


def _cells_note(rows: int) -> Notes:
    return (f"The file has more than {_MAX_CELLS:,} cells: only its first {rows:,} rows are used.",)


def _rows_note(what: str) -> Notes:
    return (f"The file has more than {MAX_ROWS:,} {what}: only the first {MAX_ROWS:,} are used.",)
