"""The metadata of a Parquet file, read before a library loads it into memory.

At the file's end is FileMetaData in parquet.thrift: the columns, the row groups with their columns,
and named texts, one of which is the atlas's header. Before every page is a PageHeader: a page is
unpacked into as many bytes as that says, up to 2 GB, whatever the metadata says, and some encodings
repeat a long text in a few bytes. In Thrift's compact protocol a list of a million entries can be a
few bytes in a file, and a hundred bytes of memory for each entry in a reader that loads them all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header import MAX_BYTES, MAX_HEADS, max_header_bytes
from core.analysis.atlas.saved.table import KEY, OLD_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow.parquet import FileMetaData

_END = 8  # bytes at the end of the file: the metadata's length, and Parquet's mark
_MARK = b"PAR1"
_GROUPS, _TEXTS = 4, 5  # fields of FileMetaData
_ROWS = 3  # field of RowGroup
_NAME, _VALUE = 1, 2  # fields of KeyValue
_MAX_ENTRIES = 64  # of any list in it but the groups; there are 31 columns
_GROUP_ENTRIES = 1000  # in all its lists; a column of an atlas has about 12
_MAX_HEADER = 4096  # bytes; without statistics it takes 50
_UNPACKED, _PACKED = 2, 3  # fields of a page's header: its sizes in bytes
_ENCODINGS = ((5, 2), (8, 4))  # where the encoding is in a page of either version
_KNOWN_ENCODINGS = {0, 2, 3, 8, 9}  # plain, dictionary, runs, byte split; not deltas
_MAX_DEPTH = 8  # structs within structs
_INTEGER = (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}  # bytes of true, false, a byte, a double
BINARY, LISTS, STRUCT = 8, (9, 10), 12


class Footer(NamedTuple):
    """What is read of a file's metadata."""

    groups: int  # of rows
    rows: int  # of the first group
    header: bytes | None  # None in a file that is not an atlas


def read_footer(source: BinaryIO) -> Footer:
    """A file's metadata, no more of it than an atlas has.

    Raises `AtlasFileError` when the file is not a Parquet file, is damaged, or describes more than
    an atlas can have.
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


def check_pages(source: BinaryIO, metadata: FileMetaData, max_bytes: int) -> None:
    """Check that no column of a group unpacks to more than `max_bytes`, and its encodings.

    Raises `AtlasFileError` when one does, has an encoding that atlases do not use, or is not where
    it should be.
    """
    for group in range(metadata.num_row_groups):
        described = metadata.row_group(group)
        for index in range(described.num_columns):
            column = described.column(index)
            offset = column.data_page_offset
            if column.has_dictionary_page and 0 < column.dictionary_page_offset < offset:
                offset = column.dictionary_page_offset
            end = offset + column.total_compressed_size
            total = 0
            while offset < end:
                header, unpacked, packed = _page(source, offset)
                total += unpacked
                if total > max_bytes:
                    raise AtlasFileError(
                        f"The file has pages of {total / 1e6:,.0f} MB, more than its tokens"
                        " can take."
                    )
                offset += header + packed


def _page(source: BinaryIO, offset: int) -> tuple[int, int, int]:
    """Bytes of the page's header, of the page unpacked, and of the page as stored."""
    source.seek(offset)
    cursor = Cursor(source.read(_MAX_HEADER))
    try:
        fields = cursor.struct()
    except IndexError as error:
        raise AtlasFileError("The file is damaged: a page of it has no end.") from error
    unpacked, packed = fields.get(_UNPACKED, -1), fields.get(_PACKED, -1)
    if unpacked < 0 or packed < 0:
        raise AtlasFileError("The file is damaged: a page of it has no size.")
    used = {inner.get(number) for field, number in _ENCODINGS if (inner := cursor.inner.get(field))}
    if not used <= _KNOWN_ENCODINGS:
        raise AtlasFileError("The file has a page in an encoding that atlases do not use.")
    return cursor.position, unpacked, packed


class Cursor:
    """Reads a Thrift struct; an IndexError means that it continues beyond its end.

    `max_list` limits the entries of a list that is skipped, `max_entries` those of all together.
    """

    def __init__(self, raw: bytes, max_list: int = 64, max_entries: int = 4096) -> None:
        self.raw = raw
        self.position = 0
        self.max_list = max_list
        self.entries_left = max_entries
        self.inner: dict[int, dict[int, int]] = {}  # integer fields of the structs one level down

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and kind of each field of a struct; read its value before the next.

        Numbers must ascend: of a field that comes twice readers might take either.
        """
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            previous, number = number, number + step if step else self._integer()
            if number <= previous:
                raise AtlasFileError("The file is damaged: a description in it is out of order.")
            yield number, kind

    def struct(self, depth: int = 0) -> dict[int, int]:
        """Its integer fields by number; all others are skipped."""
        if depth > _MAX_DEPTH:
            raise IndexError
        integers: dict[int, int] = {}
        for number, kind in self.fields():
            if kind in _INTEGER:
                integers[number] = self._integer()
            elif kind == STRUCT:
                fields = self.struct(depth + 1)
                if depth == 0:
                    self.inner[number] = fields
            else:
                self.skip(kind, depth)
        return integers

    def entries(self) -> tuple[int, int]:
        """The number of entries of a list, and their kind."""
        head = self._byte()
        return (self._varint() if head >> 4 == 15 else head >> 4), head & 15

    def binary(self) -> bytes:
        """The bytes of a text."""
        size = self._varint()
        self.position += size
        if self.position > len(self.raw):
            raise IndexError
        return self.raw[self.position - size : self.position]

    def skip(self, kind: int, depth: int = 0) -> None:
        """Skip a value of this kind."""
        if kind in _FIXED:
            self.position += _FIXED[kind]
        elif kind in _INTEGER:
            self._varint()
        elif kind == BINARY:
            size = self._varint()  # this moves the position too
            self.position += size
        elif kind == STRUCT:
            self.struct(depth + 1)
        elif kind in LISTS and depth < _MAX_DEPTH:
            count, entry = self.entries()
            self.entries_left -= count
            if count > self.max_list or self.entries_left < 0:
                raise AtlasFileError("The file is damaged: a list in it has no end.")
            for _ in range(count):
                # In a list even true and false take a byte.
                self.skip(3 if entry in {1, 2} else entry, depth + 1)
        else:  # a map, or an unknown kind: Parquet has neither here
            raise IndexError

    def _byte(self) -> int:
        self.position += 1
        return self.raw[self.position - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise IndexError

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 if value & 1 == 0 else -(value >> 1) - 1
