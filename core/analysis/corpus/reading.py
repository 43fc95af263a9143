"""A corpus's file as a table of strings, and the texts and labels that are chosen from it."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.corpus.decoding import (
    CorpusFileError,
    check_size,
    decode,
    without_surrogates,
)
from core.analysis.corpus.rows import (
    Columns,
    counted,
    from_csv,
    from_jsonl,
    from_lines,
    lines_of,
    shortened,
    surrogates_note,
)

ENDINGS = ("txt", "csv", "tsv", "jsonl")
NO_LABEL = "—"

_TEXT_NAMES = (
    *("text", "texts", "sentence", "sentences", "content", "body", "review", "comment", "message"),
    *("document", "tweet", "utterance", "passage", "paragraph", "article", "line", "question"),
)
_SPACE = " \t\r\n\f\v"


@dataclass(frozen=True)
class CorpusTable:
    """A file as a table of strings.

    Attributes
    ----------
    name : the file's name, for messages.
    columns : names of the columns, all different, none empty; for lines of text, "text" alone.
    cells : one tuple a column, all of the same length of at least 1: (column, row).
    encoding : as it was read, such as "UTF-8", "UTF-16" or "Windows-1252".
    notes : sentences for the page, of what was left out, replaced or guessed.
    text_column : the column that most likely holds the text.
    """

    name: str
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    encoding: str
    notes: tuple[str, ...]
    text_column: str

    def __len__(self) -> int:
        return len(self.cells[0])

    def column(self, name: str) -> tuple[str, ...]:
        """The cells of one column, from the first row to the last.

        Raises
        ------
        CorpusFileError
            When no column has this name.
        """
        if name not in self.columns:
            known = ", ".join(self.columns[:5]) + (", …" if len(self.columns) > 5 else "")
            raise CorpusFileError(
                f"{self.name} has no column called “{shortened(name)}”. Choose one of: {known}."
            )
        return self.cells[self.columns.index(name)]


@dataclass(frozen=True)
class Texts:
    """The texts of a corpus in their order, none empty, and their labels.

    `labels` has one label a text, or is empty where no column of labels was chosen. `notes` are
    sentences for the page; those of the table are not repeated.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_table(data: bytes, name: str) -> CorpusTable:
    """The table in a file called `name`, whose ending, one of `ENDINGS`, says how to read it.

    Raises
    ------
    CorpusFileError
        When the file is empty, larger than `MAX_BYTES`, not a text, of another kind, has more
        columns than `MAX_COLUMNS`, or no row.
    """
    shown = shortened(name)
    ending = name.rpartition(".")[2].casefold()
    if ending not in ENDINGS:
        raise CorpusFileError(
            f"{shown} cannot be read as a corpus: choose a .txt, .csv, .tsv or .jsonl file."
        )
    decoded = decode(data, shown)
    if not decoded.text.strip():
        raise CorpusFileError(f"{shown} holds only blank lines: choose a file with text.")
    if ending == "txt":
        columns = from_lines(decoded.text)
    elif ending == "jsonl":
        columns = from_jsonl(decoded.text, shown)
    else:
        columns = from_csv(decoded.text, "\t" if ending == "tsv" else None, shown)
    return CorpusTable(
        name=shown,
        columns=columns.names,
        cells=columns.cells,
        encoding=decoded.encoding,
        notes=decoded.notes + columns.notes,
        text_column=_likely_text(columns),
    )


def choose(table: CorpusTable, text_column: str, label_column: str | None = None) -> Texts:
    """The texts in one column, and the labels in another; rows without text are left out.

    White space around texts and labels is trimmed. Labels stay as they are written ("1.50"); a
    missing one is `NO_LABEL`.

    Raises
    ------
    CorpusFileError
        When there is no such column, or no text in it.
    """
    cells = table.column(text_column)
    with_text = [row for row, text in enumerate(cells) if text.strip()]
    if not with_text:
        raise CorpusFileError(
            f"The column “{text_column}” of {table.name} holds no text. Choose another column."
        )
    labels: tuple[str, ...] = ()
    if label_column is not None:
        written = table.column(label_column)
        labels = tuple(written[row].strip(_SPACE) or NO_LABEL for row in with_text)
    notes = (
        *counted(
            len(cells) - len(with_text),
            "row without text was left out.",
            "rows without text were left out.",
        ),
        *counted(
            labels.count(NO_LABEL),
            f"text has no label and is shown as “{NO_LABEL}”.",
            f"texts have no label and are shown as “{NO_LABEL}”.",
        ),
    )
    return Texts(tuple(cells[row].strip(_SPACE) for row in with_text), labels, notes)


def read_lines(text: str) -> Texts:
    """The lines that a person pasted, trimmed, without empty ones.

    Raises
    ------
    CorpusFileError
        When no line is left, or there are more than `MAX_BYTES`.
    """
    whole, replaced = without_surrogates(text)
    check_size(len(whole.encode()), "The pasted text")
    whole = whole.replace("\0", "").replace("\ufeff", "")
    lines, notes = lines_of(whole)
    texts = tuple(line.strip(_SPACE) for line in lines if line.strip())
    if not texts:
        raise CorpusFileError("No text was pasted: paste a sentence a line.")
    empty = len(lines) - len(texts)
    notes += counted(empty, "empty line was left out.", "empty lines were left out.")
    return Texts(texts, notes=notes + surrogates_note(replaced))


def _likely_text(columns: Columns) -> str:
    """A column that is called as texts are, else the one with the longest texts."""
    sizes = [sum(map(len, column)) for column in columns.cells]
    by_name = {
        name.casefold(): (name, size) for name, size in zip(columns.names, sizes, strict=True)
    }
    for known in _TEXT_NAMES:
        name, size = by_name.get(known, ("", 0))
        if size:
            return name
    return columns.names[sizes.index(max(sizes))]
