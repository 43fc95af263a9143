"""Read a corpus with Ray Data: rows of text, in the same order however many processes read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from core.analysis.corpus import CorpusFileError
from core.analysis.corpus.reading import NO_LABEL

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

ENDINGS = ("txt", "jsonl", "csv", "tsv", "parquet")
_SPACE = " \t\r\n\f\v"  # as in the corpora of the page
_AT_ONCE = 4_096  # rows, while they are handed on
_MAX_BLOCKS = 4_096  # of pieces, each a task
_MAX_CELL = 2**23  # characters
_AS_WRITTEN = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


class Files(NamedTuple):
    """The files of a corpus, by name, all of one kind, and the file system they are on."""

    system: FileSystem
    paths: list[str]
    ending: str


class Row(NamedTuple):
    """One text of a corpus, trimmed, and its label."""

    text: str
    label: str


def read_rows(
    files: Files, text_column: str = "text", label_column: str | None = None
) -> Iterator[Row]:
    """Every row that has text: files by name, rows as they stand in them.

    Lines of ``.txt`` are texts, and so are strings in ``.jsonl``; all else has columns. One process
    reads a file of text from its beginning, and each row group of a Parquet file.

    Raises
    ------
    CorpusFileError
        When a file is not UTF-8, or not of its kind, or has no such column.
    """
    import ray.data

    chunks = list(_pieces(files))
    rows = ray.data.from_items(chunks, override_num_blocks=min(len(chunks), _MAX_BLOCKS))
    rows = rows.map_batches(
        _blocks, batch_size=1, fn_args=(files.system, files.ending, text_column, label_column)
    )
    for batch in rows.iter_batches(batch_size=None, batch_format="pyarrow"):
        if problem := batch["problem"][0].as_py():
            raise CorpusFileError(problem)
        yield from _trimmed(zip(batch["text"].to_pylist(), batch["label"].to_pylist(), strict=True))


def files_of(paths: Sequence[str]) -> Files:
    """The files at these paths, and in these folders and those inside of them.

    Parameters
    ----------
    paths : on this machine, where every worker must find them too, or in an object store, such as
        ``s3://bucket/folder`` or ``gs://bucket/corpus.parquet``.

    Raises
    ------
    CorpusFileError
        When there is none, or they are of several kinds.
    """
    from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

    system, found = LocalFileSystem(), list[str]()
    for path in paths:
        own = str(Path(path).resolve())  # the current folder of a worker may be another one
        try:
            if "://" in path:
                system, own = FileSystem.from_uri(path)
            (info,) = system.get_file_info([own])
            if info.type == FileType.Directory:
                inside = system.get_file_info(FileSelector(own, recursive=True))
                files = (each.path for each in inside if each.type == FileType.File)
                found += [each for each in files if _ending(each) in ENDINGS]
            elif info.type == FileType.File:
                found.append(own)
        except (OSError, ValueError) as error:
            raise CorpusFileError(f"{path} cannot be read: {error}") from error
    endings = sorted({_ending(path) for path in found})
    if not found or not set(endings) <= set(ENDINGS):
        kinds = ", ".join(f".{ending}" for ending in ENDINGS)
        raise CorpusFileError(f"{', '.join(paths)}: there is no corpus ({kinds}).")
    if len(endings) > 1:
        raise CorpusFileError(
            f"{', '.join(paths)}: there are files of several kinds"
            f" ({', '.join(endings)}), and a corpus is of one. Name them as folder/*.{endings[0]}."
        )
    return Files(system, sorted(set(found)), endings[0])


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


def _pieces(files: Files) -> Iterator[dict[str, str | int]]:
    """What one process reads at a time: a file or a row group, in order."""
    for path in files.paths:
        groups = 1
        if files.ending == "parquet":
            with files.system.open_input_file(path) as file:
                groups = pq.read_metadata(file).num_row_groups
        for group in range(groups):
            yield {"path": path, "group": group}


def _blocks(
    batch: dict[str, Any],
    system: FileSystem,
    ending: str,
    text_column: str,
    label_column: str | None,
) -> Iterator[dict[str, list[str]]]:
    """Texts and labels of one piece, block after block, or what is wrong with it: in a worker."""
    for path, group in zip(batch["path"], batch["group"], strict=True):
        try:
            with system.open_input_file(path) as file:
                if ending == "parquet":
                    rows = _rows_of_group(file, int(group), text_column, label_column)
                else:
                    newline = "" if ending in {"csv", "tsv"} else None  # the csv module has its own
                    lines = io.TextIOWrapper(file, "utf-8-sig", newline=newline)
                    rows = rows_of_text(lines, ending, text_column, label_column)
                while block := list(islice(rows, _AT_ONCE)):
                    texts, labels = zip(*block, strict=True)
                    yield {"text": list(texts), "label": list(labels), "problem": [""] * len(texts)}
        except (UnicodeDecodeError, csv.Error, pa.ArrowException, KeyError):
            problem = (
                f"{PurePosixPath(path).name} cannot be read: it is not UTF-8 or not .{ending}, or"
                " has no such column."
            )
            yield {"text": [""], "label": [""], "problem": [problem]}


def _rows_of_group(
    file: object, group: int, text_column: str, label_column: str | None
) -> Iterator[tuple[str, str]]:
    """Text and label of the rows in one row group of a Parquet file."""
    columns = [text_column, *([label_column] if label_column else [])]
    for rows in pq.ParquetFile(file).iter_batches(_AT_ONCE, [group], columns):
        texts = rows[text_column].to_pylist()
        labels = rows[label_column].to_pylist() if label_column else [None] * len(texts)
        for text, label in zip(texts, labels, strict=True):
            yield _as_text(text), _as_text(label)


def _trimmed(rows: Iterable[tuple[str, str]]) -> Iterator[Row]:
    for text, label in rows:
        sound = text.replace("\0", "").replace("\ufeff", "")
        if sound.strip():
            yield Row(sound.strip(_SPACE), label.strip(_SPACE) or NO_LABEL)


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
