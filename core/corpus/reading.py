"""A corpus file as a table of strings, and the texts and labels chosen from it."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.decoding import (
    CorpusFileError,
    Decoded,
    check_file_size,
    counted,
    decode,
    without_surrogates,
)
from core.corpus.rows import REPLACED, Notes, RawTable, from_csv, from_jsonl, lines_of, shortened

ENDINGS = ("txt", "csv", "tsv", "jsonl")
NO_LABEL = "—"

_TEXT_NAMES = (
    *("text", "texts", "sentence", "sentences", "content", "body", "review", "comment", "message"),
    *("document", "tweet", "utterance", "passage", "paragraph", "article", "line", "question"),
)
_SPACE = " \t\r\n\f\v"


@dataclass(frozen=True)
class CorpusTable:
    """A file as a table of strings."""

    name: str  # the file's name, for messages
    columns: tuple[str, ...]  # all different, none empty; just "text" for lines of text
    cells: tuple[tuple[str, ...], ...]  # (column, row), with at least one row
    notes: tuple[str, ...]  # sentences for the page on what was left out, replaced or guessed
    text_column: str  # the column that most likely holds the text

    def column(self, name: str) -> tuple[str, ...]:
        """The cells of one column; `CorpusFileError` if there is none with this name."""
        if name not in self.columns:
            names = ", ".join(self.columns[:5]) + (", …" if len(self.columns) > 5 else "")
            raise CorpusFileError(
                f"{self.name} has no column called “{shortened(name)}”. Choose one of: {names}."
            )
        return self.cells[self.columns.index(name)]


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
        columns = RawTable(("text",), (tuple(lines),), notes)
    elif ending == "jsonl":
        columns = from_jsonl(decoded.text, name)
    else:
        columns = from_csv(decoded.text, "\t" if ending == "tsv" else None, name)
    return table_of(name, columns, decoded.notes)


def table_of(name: str, columns: RawTable, notes: Notes = ()) -> CorpusTable:
    """The columns of a file as its table; `notes` come before the columns' own."""
    return CorpusTable(name, *columns[:2], notes + columns.notes, _likely_text(columns))


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


def _likely_text(columns: RawTable) -> str:
    """A column with a typical name for texts, else the one with the longest texts."""
    sizes = [sum(map(len, column)) for column in columns.cells]
    by_name = {
        name.casefold(): name for name, size in zip(columns.names, sizes, strict=True) if size
    }
    usual = [by_name[name] for name in _TEXT_NAMES if name in by_name]
    return usual[0] if usual else columns.names[sizes.index(max(sizes))]
