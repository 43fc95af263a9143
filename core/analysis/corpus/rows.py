"""Columns of strings from text: lines, comma- or tab-separated values, or JSON lines."""

from __future__ import annotations

import csv
import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.analysis.attention_table import unique_labels
from core.analysis.corpus.decoding import CorpusFileError, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_ROWS = 500_000  # ten times the tokens of the largest atlas; bounds the memory of tiny rows
MAX_COLUMNS = 1_000  # a list to choose from; a file with more is no table of texts
MAX_NAME = 80  # characters of a column's or a file's name

# Characters of a cell: more than the longest models could use of a text. The csv module takes four
# bytes and more for each while it reads one.
_MAX_CELL = 2**23
# Of a file: 60 bytes each beside their characters. A table of texts of 20 MB has a tenth of it; one
# of small numbers would take thirty times the memory of its file.
_MAX_CELLS = 1_500_000
_MAX_FILLED = 5 * 2**20  # cells with those that are missing, of eight bytes each
_MAX_LINE = 3 * 2**22  # characters of JSON, where an escape takes six for one
_MAX_NESTED = 2**22  # characters of a line with lists or objects in it: ten times the memory
_MAX_HEADER = 60  # characters; a longer name, or one that ends as a sentence does, is a text
_DELIMITERS = (",", ";", "\t", "|")
_LINE_END = re.compile("\r\n|\n|\r")  # no other: a text may hold U+2028, a form feed and the like
_LINE = re.compile("[^\r\n]+(?:\r\n|\n|\r)?|\r\n|\n|\r")
_NESTED = re.compile(r"[:\[,]\s*[\[{]")  # a text may hold that too, and is then refused
_SENTENCE = re.compile(r"\w.*\s.*[.!?…。！？][\"'”’»)]*", re.DOTALL)
_AS_WRITTEN = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_UNPAIRED = "Quotation marks do not enclose whole cells, in pairs: they were taken as text."
csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))


@dataclass(frozen=True)
class Columns:
    """Names of columns; their cells, one tuple a column; notes for people."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def counted(count: int, one: str, many: str) -> tuple[str, ...]:
    """A note that begins with its number, or none where there is nothing to say.

    >>> counted(2, "line was left out.", "lines were left out.")
    ('2 lines were left out.',)
    """
    return (f"{count:,} {one if count == 1 else many}",) if count else ()


def shortened(name: str) -> str:
    """A name that a message can hold: one line, of a bounded length."""
    line = "".join(char if char.isprintable() else " " for char in name[: MAX_NAME + 1])
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def surrogates_note(count: int) -> tuple[str, ...]:
    """A note on surrogates without their partner."""
    return counted(
        count,
        "half of a character (a lone surrogate) was replaced by �.",
        "halves of characters (lone surrogates) were replaced by �.",
    )


def lines_of(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Lines without their ends, at most `MAX_ROWS`, and a note where there are more."""
    lines = _LINE_END.split(text, maxsplit=MAX_ROWS)
    rest = lines.pop() if len(lines) > MAX_ROWS or not lines[-1] else ""
    return lines, _cut_note("lines") if rest else ()


def from_lines(text: str) -> Columns:
    """A line a row, in one column called "text"."""
    lines, notes = lines_of(text)
    return Columns(("text",), (tuple(lines),), notes)


def from_csv(text: str, delimiter: str | None, name: str) -> Columns:
    """A table with a header; short rows are filled with empty cells, long ones get columns.

    `delimiter` None is the one that the header has most of; `name` is the file's, for messages.
    """
    header_line = text.lstrip("\r\n").partition("\n")[0]
    if delimiter is None or delimiter not in header_line:
        delimiter = max(_DELIMITERS, key=header_line.count)
    table, notes = _records(text, delimiter, name)
    header, rows = table[0], table[1:]
    if sum(map(len, table)) > _MAX_CELLS and len(rows) > 1:
        rows.pop()
        notes += _cells_note(len(rows))
    if any(map(_is_text, header)):
        rows, header = [header, *rows], [""] * len(header)
        notes += ("The first row reads like text, not like names of columns: it is kept as text.",)
    if not rows:
        found = shortened(", ".join(_names(header)))
        raise CorpusFileError(f"{name} has a header ({found}) and no row below it: add rows to it.")
    if len(rows) > MAX_ROWS:
        del rows[MAX_ROWS:]
        notes += _cut_note("rows")
    if len(header) == 1:  # a single column needs no quotes around its commas
        rows = [[delimiter.join(row)] for row in rows]
    return _filled(header, rows, notes, name)


def from_jsonl(text: str, name: str) -> Columns:
    """A JSON object a line, its keys the columns; or a string a line, in a column called "text".

    Numbers stay as they are written, nested values are written as JSON, null is an empty cell.
    Lines that are neither object nor string are left out.
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
            column += [""] * (rows - len(column))
            column.append(cell)
        rows, cells = rows + 1, cells + len(row)
        _check_shape(rows, len(columns), name)
        if cells > _MAX_CELLS:
            notes = _cells_note(rows)
            break
    if not columns:
        raise CorpusFileError(
            f"No line of {name} is a JSON object or a string (it has {bad + rows:,}). "
            'Write one a line, such as {"text": "It rains."}, or save plain sentences as .txt.'
        )
    names, replaced = _sound(columns)
    cells_of = []
    for key in list(columns):  # one column at a time leaves memory, as there may be a million cells
        column = columns.pop(key)
        column.extend([""] * (rows - len(column)))
        sound, count = _sound(column)
        cells_of.append(sound)
        replaced += count
    notes += counted(
        bad,
        "line that is no JSON object or string was left out.",
        "lines that are no JSON objects or strings were left out.",
    )
    return Columns(_names(names), tuple(cells_of), notes + surrogates_note(replaced))


def _records(text: str, delimiter: str, name: str) -> tuple[list[list[str]], tuple[str, ...]]:
    """Header and rows without blank lines, one more than may be kept, and a note on quotes.

    Quotation marks are read as RFC 4180 has them; where they are not placed so, they are text.
    """
    lines = (match.group() for match in _LINE.finditer(text))
    try:
        return _bounded(csv.reader(lines, delimiter=delimiter, strict=True)), ()
    except csv.Error:
        lines = (match.group() for match in _LINE.finditer(text))
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    try:
        return _bounded(reader), (_UNPAIRED,)
    except csv.Error as error:
        raise _too_long("cell", name, _MAX_CELL) from error


def _bounded(reader: Iterator[list[str]]) -> list[list[str]]:
    """Records with something in them, until there are more rows or cells than are kept."""
    records: list[list[str]] = []
    cells = 0
    for record in itertools.islice(reader, 2 * MAX_ROWS):
        if len(record) > 1 or (record and record[0].strip()):
            records.append(record)
            cells += len(record)
            if len(records) > MAX_ROWS + 1 or cells > _MAX_CELLS:
                break
    return records


def _filled(header: list[str], rows: list[list[str]], notes: tuple[str, ...], name: str) -> Columns:
    """Columns of equal length, as wide as the widest row."""
    width = max(len(header), *map(len, rows))
    _check_shape(len(rows), width, name)
    notes += counted(
        sum(len(row) < len(header) for row in rows),
        "row is shorter than the header: its missing cells are empty.",
        "rows are shorter than the header: their missing cells are empty.",
    )
    notes += counted(
        sum(len(row) > len(header) for row in rows),
        "row is longer than the header: its other cells stand in columns without a name.",
        "rows are longer than the header: their other cells stand in columns without a name.",
    )
    names = _names([*header, *[""] * (width - len(header))])
    cells = (tuple([row[i] if i < len(row) else "" for row in rows]) for i in range(width))
    return Columns(names, tuple(cells), notes)


def _json_row(line: str, name: str) -> dict[str, str] | None:
    """The cells of a line by their key; None where it is neither an object nor a string."""
    if len(line) > _MAX_LINE:
        raise _too_long("line", name, _MAX_LINE)
    if len(line) > _MAX_NESTED and _NESTED.search(line.lstrip(), 1):
        raise _too_long("line with lists in it", name, _MAX_NESTED)
    try:
        row = _AS_WRITTEN.decode(line)
        if isinstance(row, str):  # a bare number comes as a string too
            return {"text": row} if line.lstrip().startswith('"') else None
        if not isinstance(row, dict):
            return None
        if any(isinstance(value, dict | list) for value in row.values()):
            nested = json.loads(line)  # once more, for numbers that are written as numbers
            row = {k: nested[k] if isinstance(v, dict | list) else v for k, v in row.items()}
        return {key: _as_text(value) for key, value in row.items()}
    except (ValueError, RecursionError):
        return None


def _as_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _sound(column: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Without lone surrogates and NULs, which escapes can write; how many surrogates there were."""
    column = tuple(column)
    if all(cell.isascii() and "\0" not in cell for cell in column):  # almost always, and quick
        return column, 0
    pairs = [without_surrogates(cell) for cell in column]
    return tuple(cell.replace("\0", "") for cell, _ in pairs), sum(count for _, count in pairs)


def _is_text(cell: str) -> bool:
    """Whether a cell of the first row is a text rather than the name of a column."""
    return len(cell) > _MAX_HEADER or _SENTENCE.fullmatch(cell.strip()) is not None


def _names(header: Iterable[str]) -> tuple[str, ...]:
    """Names that are short, not empty and all different."""
    named = [
        shortened(name.strip()).strip() or f"column {i}" for i, name in enumerate(header, start=1)
    ]
    return unique_labels(tuple(named))


def _check_shape(rows: int, columns: int, name: str) -> None:
    if columns > MAX_COLUMNS:
        raise CorpusFileError(
            f"{name} has {columns:,} columns or more; at most {MAX_COLUMNS:,} can be read. "
            "Keep those with the text and its label."
        )
    if rows * columns > _MAX_FILLED:
        raise CorpusFileError(
            f"{name} has {rows:,} rows and, in all, {columns:,} columns, most without cells. "
            "Keep the columns with the text and its label."
        )


def _too_long(what: str, name: str, most: int) -> CorpusFileError:
    return CorpusFileError(
        f"A {what} of {name} has more than {most:,} characters, and no model takes so many."
        " Put a sentence or a paragraph into each."
    )


def _cells_note(rows: int) -> tuple[str, ...]:
    note = f"The file has more than {_MAX_CELLS:,} cells: only its first {rows:,} rows were read."
    return (note,)


def _cut_note(what: str) -> tuple[str, ...]:
    return (f"The file has more than {MAX_ROWS:,} {what}: only the first {MAX_ROWS:,} were read.",)
