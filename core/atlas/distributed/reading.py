"""Read a corpus of any size from this machine or an object store, row by row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from core.analysis.corpus import CorpusFileError
from core.analysis.corpus.reading import NO_LABEL
from core.atlas.command_line.corpus import Sentence

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

ENDINGS = ("txt", "jsonl", "csv", "tsv", "parquet")
_SPACE = " \t\r\n\f\v"  # as in the corpora of the page
_AT_ONCE = 4_096  # rows of a Parquet file
_MAX_CELL = 2**23  # characters
_AS_WRITTEN = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


class Files(NamedTuple):
    """The files of a corpus, by name, all of one kind, and the file system they are on."""

    system: FileSystem
    paths: list[str]
    ending: str


@dataclass(frozen=True)
class ClusterCorpus:
    """Texts in files, in the order of the files' names."""

    path: PurePosixPath
    files: Files
    text_column: str
    label_column: str | None

    def sentences(self, say: Callable[[str], object] = lambda _: None) -> Iterator[Sentence]:
        """All that have text, the same each time; `say` gets how many have no label.

        Raises `CorpusFileError` once it comes to what is no corpus.
        """
        unlabelled = 0
        for text, label in read_rows(self.files, self.text_column, self.label_column):
            unlabelled += label == NO_LABEL
            yield Sentence(text, label if self.label_column else None)
        if unlabelled and self.label_column:
            say(f"{unlabelled:,} of the texts have no label and are shown as “{NO_LABEL}”.")


def open_corpus(path: str, text_column: str | None, label_column: str | None) -> ClusterCorpus:
    """The corpus in a file, a folder or an object store.

    Its texts are in the column "text" unless another is named. Raises `CorpusFileError` where there
    is none.
    """
    return ClusterCorpus(PurePosixPath(path), files_of(path), text_column or "text", label_column)


def read_rows(
    files: Files, text_column: str = "text", label_column: str | None = None
) -> Iterator[Sentence]:
    """Every row that has text, trimmed: files by name, rows as they stand in them.

    Lines of ``.txt`` are texts, and so are strings in ``.jsonl``; all else has columns. Raises
    `CorpusFileError` when a file is not UTF-8, or not of its kind, or has no such column.
    """
    for path in files.paths:
        try:
            with files.system.open_input_file(path) as file:
                yield from _trimmed(_rows_of(file, files.ending, text_column, label_column))
        except (UnicodeDecodeError, csv.Error, pa.ArrowException, KeyError):
            raise CorpusFileError(
                f"{PurePosixPath(path).name} cannot be read: it is not UTF-8 or not"
                f" .{files.ending}, or has no such column."
            ) from None


def files_of(path: str) -> Files:
    """The files at a path, and in this folder and those inside of it.

    It is on this machine, or in an object store, such as ``s3://bucket/folder`` or
    ``gs://bucket/corpus.parquet``. Raises `CorpusFileError` when there is none, or they are of
    several kinds.
    """
    from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

    found: list[str] = []
    try:
        if "://" in path:
            system, own = FileSystem.from_uri(path)
        else:
            system, own = LocalFileSystem(), str(Path(path).resolve())
        (info,) = system.get_file_info([own])
        if info.type == FileType.Directory:
            inside = system.get_file_info(FileSelector(own, recursive=True))
            files = (each.path for each in inside if each.type == FileType.File)
            found = [each for each in files if _ending(each) in ENDINGS]
        elif info.type == FileType.File:
            found = [own]
    except (OSError, ValueError) as error:
        raise CorpusFileError(f"{path} cannot be read: {error}") from error
    endings = sorted({_ending(each) for each in found})
    if not found or not set(endings) <= set(ENDINGS):
        kinds = ", ".join(f".{ending}" for ending in ENDINGS)
        raise CorpusFileError(f"{path}: there is no corpus ({kinds}).")
    if len(endings) > 1:
        raise CorpusFileError(
            f"{path}: there are files of several kinds ({', '.join(endings)}), and a corpus is of"
            f" one. Name them as folder/*.{endings[0]}."
        )
    return Files(system, sorted(found), endings[0])


def _rows_of(
    file: NativeFile, ending: str, text_column: str, label_column: str | None
) -> Iterator[tuple[str, str]]:
    """Text and label of each row in a file."""
    if ending == "parquet":
        return _rows_of_table(file, text_column, label_column)
    newline = "" if ending in {"csv", "tsv"} else None  # the csv module has its own
    lines = io.TextIOWrapper(file, "utf-8-sig", newline=newline)
    return rows_of_text(lines, ending, text_column, label_column)


def rows_of_text(
    file: TextIO, ending: str, text_column: str, label_column: str | None
) -> Iterator[tuple[str, str]]:
    """Text and label of each row in a file of lines, of JSON lines or of values with separators.

    >>> list(rows_of_text(io.StringIO('{"text": "It rains.", "mood": 2}'), "jsonl", "text", "mood"))
    [('It rains.', '2')]
    """
    if ending == "txt":
        yield from ((line, "") for line in file)
        return
    rows: Iterable[dict[str, Any]]
    if ending == "jsonl":
        rows = (_json_row(line, text_column) for line in file)
    else:
        csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))
        rows = csv.DictReader(file, delimiter="\t" if ending == "tsv" else ",")
    for row in rows:
        yield _as_text(row.get(text_column)), _as_text(row.get(label_column or ""))


def _rows_of_table(
    file: NativeFile, text_column: str, label_column: str | None
) -> Iterator[tuple[str, str]]:
    """Text and label of the rows in a Parquet file."""
    columns = [text_column, *([label_column] if label_column else [])]
    for rows in pq.ParquetFile(file).iter_batches(_AT_ONCE, columns=columns):
        texts = rows[text_column].to_pylist()
        labels = rows[label_column].to_pylist() if label_column else [None] * len(texts)
        for text, label in zip(texts, labels, strict=True):
            yield _as_text(text), _as_text(label)


def _trimmed(rows: Iterable[tuple[str, str]]) -> Iterator[Sentence]:
    for text, label in rows:
        sound = text.replace("\0", "").replace("\ufeff", "")
        if sound.strip():
            yield Sentence(sound.strip(_SPACE), label.strip(_SPACE) or NO_LABEL)


def _json_row(line: str, text_column: str) -> dict[str, Any]:
    """The values of a line by key; a string alone is a text, and what is neither is no row."""
    try:
        row = _AS_WRITTEN.decode(line)
    except (ValueError, RecursionError):
        return {}
    if isinstance(row, str):  # bare numbers are strings here too
        return {text_column: row} if line.lstrip().startswith('"') else {}
    return row if isinstance(row, dict) else {}


def _as_text(value: object) -> str:
    """As it is written in JSON, but for strings; surrogates without their partner show as �."""
    text = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value, default=str)
    )
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.removeprefix(".").casefold()
