"""A corpus of any size, on this machine or in an object store, read as needed."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from core.corpus.decoding import MAX_BYTES, CorpusFileError, counted, decode, not_text
from core.corpus.reading import ENDINGS, choose_columns, read_table, table_in
from core.corpus.rows import NO_ROW, CorpusTable, NoObjectError, from_values

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

PARQUET = "parquet"
LINE_FORMATS = ("txt", "jsonl")  # of any size: they can be read line by line
_MAX_NOTES = 5  # per file: each portion of a large one may have its own
_PORTION = 2**19  # bytes read at once from a large file; fewer lines than a table may have
_ROWS = 4_096  # read at once from a Parquet file


class Sentence(NamedTuple):
    """A text and its label; None if no labels were asked for."""

    text: str
    label: str | None


@dataclass(frozen=True)
class Corpus:
    """Texts in files, in the order of the files' names.

    Attributes
    ----------
    path : the file or the folder.
    system : the file system they are on.
    files : the files that are read.
    text_column, label_column : in every file; by default the likeliest text column of each file.
    """

    path: PurePosixPath
    system: FileSystem
    files: tuple[str, ...]
    text_column: str | None = None
    label_column: str | None = None

    def sentences(self, say: Callable[[str], object] = lambda _: None) -> Iterator[Sentence]:
        """All sentences, the same each time; `say` gets the notes on what was left out.

        Raises `CorpusFileError` on reaching something that is not a corpus.
        """
        notes: list[str] = []
        for file in self.files:
            yield from self._of_file(file, notes)
            while notes:
                say(notes.pop(0))

    def _of_file(self, file: str, notes: list[str]) -> Iterator[Sentence]:
        """The sentences of a file; the first few notes on it are added to `notes`."""
        name, column = PurePosixPath(file).name, self.text_column
        where = "" if len(self.files) == 1 else f"{name}: "

        def add(*more: str) -> None:
            notes.extend(where + note for note in more[: _MAX_NOTES - len(notes)])

        with self.system.open_input_file(file) as opened:
            for table in _tables(opened, name, add):
                column = column or table.text_column
                if not any(map(str.strip, table.column(column))):
                    continue
                texts = choose_columns(table, column, self.label_column)
                add(*table.notes, *texts.notes)
                for place, text in enumerate(texts.texts):
                    yield Sentence(text, texts.labels[place] if texts.labels else None)


def open_corpus(path: str, text_column: str | None, label_column: str | None) -> Corpus:
    """The corpus in a file, in a folder and its subfolders, or in an object store.

    The latter is an address such as ``s3://bucket/folder`` or ``gs://bucket/corpus.parquet``.
    Raises `CorpusFileError` if there is no file of texts, a file is a device or a pipe, which may
    have no end, or a table is too large to be read at once.
    """
    from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

    try:
        if "://" in path:
            system, root = FileSystem.from_uri(path)
        else:
            system, root = LocalFileSystem(), str(Path(path).resolve())
        files: list[FileInfo] = system.get_file_info([root])
        if files[0].type == FileType.NotFound:
            raise CorpusFileError(f"There is nothing at {path}.")
        if files[0].type == FileType.Directory:
            inside = system.get_file_info(FileSelector(root, recursive=True))
            files = [each for each in inside if each.extension.lower() in (*ENDINGS, PARQUET)]
    except (OSError, ValueError) as error:
        raise CorpusFileError(f"{path} cannot be read: {error}") from error
    if not files:
        kinds = ", ".join(f".{ending}" for ending in (*ENDINGS, PARQUET))
        raise CorpusFileError(f"{path} has no file of texts ({kinds}).")
    for each in files:
        if each.type != FileType.File:
            raise CorpusFileError(f"{each.path} is neither a regular file nor a link to one.")
        if each.size > MAX_BYTES and each.extension.lower() not in (*LINE_FORMATS, PARQUET):
            raise CorpusFileError(
                f"{each.base_name} has {each.size / 2**20:,.0f} MB: tables of more than"
                f" {MAX_BYTES // 2**20} MB are read as .{PARQUET}, or as .jsonl with an object on"
                " each line."
            )
    paths = sorted(each.path for each in files)
    return Corpus(PurePosixPath(path), system, tuple(paths), text_column, label_column)


def _tables(file: NativeFile, name: str, add: Callable[[str], object]) -> Iterator[CorpusTable]:
    """A file, some rows at a time; `add` gets its note on JSON lines that are no rows.

    Raises `CorpusFileError` if it is not what its name says.
    """
    if name.lower().endswith(f".{PARQUET}"):
        yield from _of_parquet(file, name)
        return
    if file.size() <= MAX_BYTES:
        yield read_table(file.read(), name)
        return
    codec, without, has_rows = "", 0, False
    for data in _portions(file, name):
        decoded = decode(data, name, codec)
        codec = codec or decoded.codec
        try:
            table = table_in(decoded, name)
        except NoObjectError as error:
            without += error.lines
            continue
        has_rows = True
        yield table
    if without and not has_rows:
        raise NoObjectError(name, without)
    for note in counted(without, NO_ROW):
        add(note)


def _of_parquet(file: NativeFile, name: str) -> Iterator[CorpusTable]:
    """Some rows at a time, so that memory is bounded; `CorpusFileError` for a damaged file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        for rows in pq.ParquetFile(file).iter_batches(_ROWS):
            yield from_values(rows.to_pydict(), name)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise CorpusFileError(f"{name} cannot be read: it is no sound Parquet file.") from error


def _portions(file: NativeFile, name: str) -> Iterator[bytes]:
    """Some lines of a large file at a time, converted to UTF-8 if its mark says UTF-16.

    Raises `CorpusFileError` if its bytes are not what the mark says, or a line has no end.
    """
    import pyarrow as pa

    marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    file.seek(0)
    stream = pa.transcoding_input_stream(file, "utf-16", "utf-8") if marked else file
    rest = b""
    try:
        while data := stream.read(_PORTION):
            lines, end, rest = (rest + data).rpartition(b"\n")
            if len(rest) > MAX_BYTES:
                raise CorpusFileError(f"{name} has a line of more than {MAX_BYTES:,} bytes.")
            if lines.strip():
                yield lines + end
    except UnicodeDecodeError:
        raise not_text(name) from None
    if rest.strip():
        yield rest
