"""The metadata at the end of a Parquet file, read before a library loads it into memory.

It is FileMetaData in parquet.thrift: the columns, the row groups with their columns, and named
texts, one of which is the atlas's header.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header import MAX_BYTES, MAX_HEADS, max_header_bytes
from core.analysis.atlas.saved.table import KEY, OLD_KEY
from core.analysis.atlas.saved.thrift import BINARY, LISTS, STRUCT, Cursor

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = 8  # bytes at the end of the file: the metadata's length, and Parquet's mark
_MARK = b"PAR1"
_GROUPS, _TEXTS = 4, 5  # fields of FileMetaData
_ROWS = 3  # field of RowGroup
_NAME, _VALUE = 1, 2  # fields of KeyValue
_MAX_ENTRIES = 64  # of any list in it but the groups; there are 31 columns
_GROUP_ENTRIES = 1000  # in all its lists; a column of an atlas has about 12


@dataclass(frozen=True)
class Footer:
    """The number of row groups, the rows of the first one, and the header's bytes.

    `header` is None in a file that is not an atlas.
    """

    groups: int
    rows: int
    header: bytes | None


def read_footer(source: BinaryIO) -> Footer:
    """A file's metadata, no more of it than an atlas has.

    Raises
    ------
    AtlasFileError
        When the file is not a Parquet file, is damaged, or describes more than an atlas can have.
    """
    raw = _raw(source)
    cursor = Cursor(raw, _MAX_ENTRIES, _GROUP_ENTRIES)
    groups, rows, header = 0, 0, None
    try:
        for number, kind in cursor.fields():
            if number == _GROUPS and kind in LISTS:
                groups, rows = _read_groups(cursor)
            elif number == _TEXTS and kind in LISTS:
                texts = dict(_read_texts(cursor))
                header = texts.get(KEY, texts.get(OLD_KEY))
            else:
                cursor.skip(kind)
    except IndexError as error:
        raise AtlasFileError("The file is damaged: its description has no end.") from error
    limit = max_header_bytes(groups, rows)
    if header is not None and len(header) > limit:
        raise AtlasFileError(
            f"The file's description of itself has {len(header) / 1e6:.1f} MB; {groups:,} heads of"
            f" {rows:,} tokens take {limit / 1e6:.1f} MB at most."
        )
    return Footer(groups, rows, header)


def _raw(source: BinaryIO) -> bytes:
    size = source.seek(0, os.SEEK_END)
    if size < len(_MARK) + _END:
        raise AtlasFileError("The file is empty or too short to be an atlas.")
    source.seek(-_END, os.SEEK_END)
    end = source.read(_END)
    if end[4:] != _MARK:
        raise AtlasFileError("The file is not an atlas: it is not in the Parquet format.")
    length = int.from_bytes(end[:4], "little")
    if length > min(size - _END, 2 * MAX_BYTES):
        raise AtlasFileError("The file is damaged: its description is longer than it can be.")
    source.seek(-_END - length, os.SEEK_END)
    raw = source.read(length)
    source.seek(0)
    return raw


def _read_groups(cursor: Cursor) -> tuple[int, int]:
    """The number of row groups, and the rows of the first."""
    count, kind = cursor.entries()
    if count > MAX_HEADS:
        raise AtlasFileError(
            f"The file has {count:,} groups of rows; an atlas has {MAX_HEADS:,} heads at most."
        )
    if kind != STRUCT:
        raise IndexError
    cursor.entries_left += count * _GROUP_ENTRIES
    rows = [cursor.struct(1).get(_ROWS, 0) for _ in range(count)]
    return count, rows[0] if rows else 0


def _read_texts(cursor: Cursor) -> Iterator[tuple[bytes, bytes]]:
    count, kind = cursor.entries()
    if count > _MAX_ENTRIES or kind != STRUCT:
        raise IndexError
    for _ in range(count):
        texts = {_NAME: b"", _VALUE: b""}
        for number, kind in cursor.fields():
            if number in texts and kind == BINARY:
                texts[number] = cursor.binary()
            else:
                cursor.skip(kind)
        yield texts[_NAME], texts[_VALUE]
