"""Columns of strings from text: lines, comma- or tab-separated values, or JSON lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.analysis.attention_table import unique_labels
from core.analysis.corpus_csv import MOST_CELLS, Record, records, too_long
from core.analysis.corpus_encoding import CorpusFileError, mended, told

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ROWS = 500_000  # ten times the tokens of the largest atlas; bounds the memory of tiny rows
MOST_COLUMNS = 1_000  # a list to choose from; a file with more is no table of texts

_MOST_FILLED = 5 * 2**20  # cells with those that are missing, of eight bytes each
_MOST_LINE = 3 * 2**22  # characters of JSON, where an escape takes six for one
_MOST_NESTED = 2**22  # characters of a line with lists or objects in it: ten times the memory
_LONGEST_NAME = 80  # characters of a column's or a file's name
_LONGEST_HEADER = 60  # characters; a longer one, or one that ends as a sentence does, is a text
_AS_WRITTEN = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_NESTED = re.compile(r"[:\[,]\s*[\[{]")  # a text may hold that too, and is then refused
_LINE_END = re.compile("\r\n|\n|\r")  # no other: a text may hold U+2028, a form feed and the like
_SENTENCE = re.compile(r"\w.*\s.*[.!?…。！？][\"'”’»)]*", re.DOTALL)


@dataclass(frozen=True)
class Columns:
    """Names of columns; their cells, one tuple a column; notes for people."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def lines_of(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Lines without their ends, at most `MOST_ROWS`, and a note where there are more."""
    lines = _LINE_END.split(text, maxsplit=MOST_ROWS)
    rest = lines.pop() if len(lines) > MOST_ROWS or not lines[-1] else ""
    return lines, _told_of_more("lines") if rest else ()


def from_lines(text: str) -> Columns:
    """A line a row, in one column called "text"."""
    lines, notes = lines_of(text)
    return Columns(("text",), (tuple(lines),), notes)


def from_csv(text: str, delimiter: str | None, name: str) -> Columns:
    """A table with a header; short rows are filled with empty cells, long ones get columns.

    `delimiter` None is found out; `name` is the file's, for messages.
    """
    # the header, and one row to see that there are more
    table = records(text, delimiter, MOST_ROWS + 2, name)
    if not table.records:
        raise CorpusFileError(f"{name} holds no cell with text: choose a file with a table.")
    header, rows, notes = table.records[0], table.records[1:], table.notes
    if table.cut and len(rows) > 1:
        rows.pop()
        notes += _told_of_cells(len(rows))
    _check_shape(len(rows), len(header), name)
    if any(map(_is_text, header)):
        rows = [header, *rows]
        header = [""] * len(header)
        notes += ("The first row reads like text, not like names of columns: it is kept as text.",)
    if not rows:
        found = shortened(", ".join(_names(header)))
        raise CorpusFileError(f"{name} has a header ({found}) and no row below it: add rows to it.")
    if len(rows) > MOST_ROWS:
        rows = rows[:MOST_ROWS]
        notes += _told_of_more("rows")
    if len(header) == 1:  # a single column needs no quotes around its commas
        rows = [[table.delimiter.join(row)] for row in rows]
    notes += _told_of_ragged(rows, len(header))
    width = max(len(header), *map(len, rows)) if len(header) > 1 else 1
    _check_shape(len(rows), width, name)
    names = _names([*header, *[""] * (width - len(header))])
    cells = (tuple([row[i] if i < len(row) else "" for row in rows]) for i in range(width))
    return Columns(names, tuple(cells), notes)


def from_jsonl(text: str, name: str) -> Columns:
    """A JSON object a line, its keys the columns; or a string a line, in a column called "text".

    Numbers stay as they are written, nested values are written as JSON, null is an empty cell.
    Lines that are neither object nor string are left out.
    """
    lines, notes = lines_of(text)
    found, rows, bad, cut = _json_columns(lines, name)
    if not found:
        raise CorpusFileError(
            f"No line of {name} is a JSON object or a string (it has {bad + rows:,}). "
            'Write one a line, such as {"text": "It rains."}, or save plain sentences as .txt.'
        )
    if cut:
        notes = _told_of_cells(rows)
    named, replaced = _sound(found)
    columns = [_sound(found.pop(key)) for key in list(found)]
    replaced += sum(count for _, count in columns)
    notes += told(
        bad,
        "line that is no JSON object or string was left out.",
        "lines that are no JSON objects or strings were left out.",
    )
    cells = tuple(column for column, _ in columns)
    return Columns(_names(named), cells, notes + told_of_halves(replaced))


def shortened(name: str) -> str:
    """A name that a message can hold: one line, of a bounded length."""
    line = "".join(char if char.isprintable() else " " for char in name[: _LONGEST_NAME + 1])
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"


def told_of_halves(count: int) -> tuple[str, ...]:
    """A note on surrogates without their partner."""
    return told(
        count,
        "half of a character (a lone surrogate) was replaced by �.",
        "halves of characters (lone surrogates) were replaced by �.",
    )


def _json_columns(lines: list[str], name: str) -> tuple[dict[str, list[str]], int, int, bool]:
    """Cells by key, how many rows and how many bad lines, and whether `MOST_CELLS` ended it."""
    columns: dict[str, list[str]] = {}
    rows = bad = cells = 0
    for line in lines:
        if len(line) > _MOST_LINE:
            raise CorpusFileError(too_long("line", name, _MOST_LINE))
        row = _json_row(line, name) if line.strip() else {}
        if row is None:
            bad += 1
        elif line.strip():
            for key, cell in row.items():
                column = columns.setdefault(key, [])
                column += [""] * (rows - len(column))
                column.append(cell)
            rows += 1
            cells += len(row)
            _check_shape(rows, len(columns), name)
            if cells > MOST_CELLS:
                break
    for column in columns.values():
        column.extend([""] * (rows - len(column)))
    return columns, rows, bad, cells > MOST_CELLS


def _json_row(line: str, name: str) -> dict[str, str] | None:
    """The cells of a line by their key; None where it is neither an object nor a string."""
    if len(line) > _MOST_NESTED and _NESTED.search(line.lstrip(), 1):
        raise CorpusFileError(too_long("line with lists in it", name, _MOST_NESTED))
    try:
        found = _AS_WRITTEN.decode(line)
        if isinstance(found, dict) and any(isinstance(v, dict | list) for v in found.values()):
            nested = json.loads(line)  # once more, for numbers that are to be written as numbers
            found = {k: nested[k] if isinstance(v, dict | list) else v for k, v in found.items()}
        if isinstance(found, str):
            # a bare number or NaN comes as a string too
            return {"text": found} if line.lstrip().startswith('"') else None
        if isinstance(found, dict):
            return {key: _as_text(value) for key, value in found.items()}
    except (ValueError, RecursionError):
        return None
    return None


def _as_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _sound(column: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Without lone surrogates and NULs, which escapes can write; how many surrogates there were."""
    column = tuple(column)
    whole = "".join(column)
    if whole.isascii() and "\0" not in whole:  # almost always: quick
        return column, 0
    pairs = [mended(cell) for cell in column]
    return tuple(cell.replace("\0", "") for cell, _ in pairs), sum(count for _, count in pairs)


def _is_text(cell: str) -> bool:
    """Whether a cell of the first row is a text rather than the name of a column."""
    return len(cell) > _LONGEST_HEADER or _SENTENCE.fullmatch(cell.strip()) is not None


def _names(header: Iterable[str]) -> tuple[str, ...]:
    """Names that are short, not empty and all different."""
    named = [
        shortened(name.strip()).strip() or f"column {i}" for i, name in enumerate(header, start=1)
    ]
    return unique_labels(tuple(named))


def _check_shape(rows: int, columns: int, name: str) -> None:
    if columns > MOST_COLUMNS:
        raise CorpusFileError(
            f"{name} has {columns:,} columns or more; at most {MOST_COLUMNS:,} can be read. "
            "Keep those with the text and its label."
        )
    if rows * columns > _MOST_FILLED:
        raise CorpusFileError(
            f"{name} has {rows:,} rows and, in all, {columns:,} columns, most without cells. "
            "Keep the columns with the text and its label."
        )


def _told_of_ragged(rows: list[Record], width: int) -> tuple[str, ...]:
    return (
        *told(
            sum(len(row) < width for row in rows),
            "row is shorter than the header: its missing cells are empty.",
            "rows are shorter than the header: their missing cells are empty.",
        ),
        *told(
            sum(len(row) > width for row in rows),
            "row is longer than the header: its other cells stand in columns without a name.",
            "rows are longer than the header: their other cells stand in columns without a name.",
        ),
    )


def _told_of_cells(rows: int) -> tuple[str, ...]:
    said = f"The file has more than {MOST_CELLS:,} cells: only its first {rows:,} rows were read."
    return (said,)


def _told_of_more(what: str) -> tuple[str, ...]:
    return (
        f"The file has more than {MOST_ROWS:,} {what}: only the first {MOST_ROWS:,} were read.",
    )
