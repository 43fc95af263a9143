"""A corpus for the command line: a file or a folder of them, of any size, read as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.analysis.corpus import ENDINGS, MAX_BYTES, CorpusFileError, choose, read_table

LINES = (".txt", ".jsonl")  # of any size: a line needs no other
_MAX_NOTES = 5  # on one file: each portion of a large one may have its own
_PORTION = 2**19  # bytes read at once of a large file; fewer lines than a table may have


class Sentence(NamedTuple):
    """A text and its label; None where no labels were asked for."""

    text: str
    label: str | None


@dataclass(frozen=True)
class Corpus:
    """Texts in files, in the order of the files' names.

    Attributes
    ----------
    path : the file or the folder.
    files : those that are read.
    text_column, label_column : of every file; the likeliest column of each file if not given.
    """

    path: Path
    files: tuple[Path, ...]
    text_column: str | None = None
    label_column: str | None = None

    def sentences(self, say: Callable[[str], object] = lambda _: None) -> Iterator[Sentence]:
        """All of them, the same each time; `say` gets the notes on what was left out.

        Raises `CorpusFileError` once it comes to what is no corpus.
        """
        notes: list[str] = []
        for file in self.files:
            yield from self._of_file(file, notes)
            while notes:
                say(notes.pop(0))

    def _of_file(self, file: Path, notes: list[str]) -> Iterator[Sentence]:
        """The sentences of a file; the first few notes on it are added."""
        column = self.text_column
        for data in _portions(file):
            table = read_table(data, file.name)
            column = column or table.text_column
            texts = choose(table, column, self.label_column)
            own = (*table.notes, *texts.notes)[: _MAX_NOTES - len(notes)]
            notes += [note if len(self.files) == 1 else f"{file.name}: {note}" for note in own]
            for place, text in enumerate(texts.texts):
                yield Sentence(text, texts.labels[place] if texts.labels else None)


def open_corpus(path: Path, text_column: str | None, label_column: str | None) -> Corpus:
    """The corpus at a path.

    Raises
    ------
    OSError
        When there is nothing at the path.
    CorpusFileError
        When a folder has no file of texts, a file is a device or a pipe, which may have no end, or
        a table is too large to be read at once.
    """
    files = [path]
    if path.is_dir():
        endings = tuple(f".{ending}" for ending in ENDINGS)
        files = sorted(one for one in path.iterdir() if one.suffix.lower() in endings)
        if not files:
            raise CorpusFileError(f"{path} has no file of texts ({', '.join(endings)}).")
    for file in files:
        size = file.stat().st_size
        if not file.is_file():
            raise CorpusFileError(f"{file} is neither a regular file nor a link to one.")
        if size > MAX_BYTES and file.suffix.lower() not in LINES:
            raise CorpusFileError(
                f"{file.name} has {size / 2**20:,.0f} MB: tables of more than"
                f" {MAX_BYTES // 2**20} MB are read as .jsonl, with an object on each line."
            )
    return Corpus(path, tuple(files), text_column, label_column)


def _portions(file: Path) -> Iterator[bytes]:
    """The bytes of a file, whole if it is small, else some lines at a time."""
    with file.open("rb") as opened:
        if file.stat().st_size <= MAX_BYTES:
            yield opened.read()
            return
        rest = b""
        while data := opened.read(_PORTION):
            lines, end, beginning = (rest + data).rpartition(b"\n")
            rest = beginning
            if len(rest) > MAX_BYTES:
                raise CorpusFileError(f"{file.name} has a line of more than {MAX_BYTES:,} bytes.")
            if lines.strip():
                yield lines + end
        if rest.strip():
            yield rest
