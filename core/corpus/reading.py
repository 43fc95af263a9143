"""A corpus file as a table of strings, and the texts and labels chosen from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.corpus.decoding import (
    CorpusFileError,
    Decoded,
    check_file_size,
    counted,
    decode,
    without_surrogates,
)
from core.corpus.rows import REPLACED, CorpusTable, from_csv, from_jsonl, lines_of, shortened

ENDINGS = ("txt", "csv", "tsv", "jsonl")
NO_LABEL = "—"

_SPACE = " \t\r\n\f\v"


@dataclass(frozen=True)
class Texts:
    """The texts of a corpus in order, none empty, and their labels."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()  # one per text, or empty if no label column was chosen
    notes: tuple[str, ...] = ()  # sentences for the page, in addition to those of the table


def read_table(data: bytes, name: str) -> CorpusTable:
    """The table in a file called `name`, whose extension, one of `ENDINGS`, says how to read it.

    Raises `CorpusFileError` if the file is empty, larger than `MAX_BYTES`, not text, of another
    kind, has more columns than `MAX_COLUMNS`, or has no rows.
    """
    return table_in(decode(data, shortened(name)), name)


def table_in(decoded: Decoded, name: str) -> CorpusTable:
    """The table in the text of a file, or in some lines of it; raises the same errors."""
    ending, name = name.rpartition(".")[2].casefold(), shortened(name)
    if ending not in ENDINGS:
        raise CorpusFileError(
            f"{name} cannot be read as a corpus: choose a .txt, .csv, .tsv or .jsonl file."
        )
    if not decoded.text.strip():
        raise CorpusFileError(f"{name} has only blank lines: choose a file with text.")
    if ending == "txt":
        lines, notes = lines_of(decoded.text)
        table = CorpusTable(name, ("text",), (tuple(lines),), notes)
    elif ending == "jsonl":
        table = from_jsonl(decoded.text, name)
    else:
        table = from_csv(decoded.text, "\t" if ending == "tsv" else None, name)
    return replace(table, notes=decoded.notes + table.notes)


def choose_columns(table: CorpusTable, text_column: str, label_column: str | None = None) -> Texts:
    """The texts in one column and the labels in another; rows without text are left out.

    White space around texts and labels is trimmed. Labels stay as written ("1.50"); a missing one
    is `NO_LABEL`. Raises `CorpusFileError` if there is no such column, or no text in it.
    """
    cells = table.column(text_column)
    rows = [row for row, text in enumerate(cells) if text.strip()]
    if not rows:
        raise CorpusFileError(
            f"The column “{text_column}” of {table.name} has no text. Choose another column."
        )
    labels: tuple[str, ...] = ()
    if label_column is not None:
        label_cells = table.column(label_column)
        labels = tuple(label_cells[row].strip(_SPACE) or NO_LABEL for row in rows)
    notes = counted(
        len(cells) - len(rows), "{row without text was|rows without text were} left out."
    )
    notes += counted(
        labels.count(NO_LABEL),
        "{text has no label and is|texts have no label and are} shown as “—”.",
    )
    return Texts(tuple(cells[row].strip(_SPACE) for row in rows), labels, notes)


def read_lines(text: str) -> Texts:
    """Pasted lines, trimmed, none empty; `CorpusFileError` for none, or over `MAX_BYTES`."""
    text, replaced = without_surrogates(text)
    check_file_size(len(text.encode()), "The pasted text")
    lines, notes = lines_of(text.replace("\0", "").replace("\ufeff", ""))
    texts = tuple(line.strip(_SPACE) for line in lines if line.strip())
    if not texts:
        raise CorpusFileError("No text was pasted: paste one sentence per line.")
    empty = len(lines) - len(texts)
    notes += counted(empty, "empty {line was|lines were} left out.")
    return Texts(texts, notes=notes + counted(replaced, REPLACED))


def repeats_note(repeated: int) -> tuple[str, ...]:
    """A note on texts that repeat an earlier one, if any; they are kept."""
    return counted(
        repeated, "{text repeats an earlier one, and is|texts repeat earlier ones, and are} kept."
    )
