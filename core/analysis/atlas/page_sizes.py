"""What the pages of a Parquet file say of themselves, before any of them is unpacked.

A page is unpacked into as many bytes as its own header names, up to 2 GB, whatever the file's
description at its end says, and some encodings let a short text stand for a long one again and
again. The headers are Thrift structs in the compact protocol (parquet.thrift, PageHeader).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from core.analysis.atlas.header import AtlasFileError

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_LONGEST_HEADER = 4096  # bytes; those of numbers and of texts without statistics take 50
_DEEPEST = 8  # structs within structs
_UNPACKED, _PACKED = 2, 3  # fields of a page's header: its sizes in bytes
_ENCODINGS = ((5, 2), (8, 4))  # where the encoding is in a page of either version
_KNOWN_ENCODINGS = {0, 2, 3, 8, 9}  # plain, by dictionary or runs, bytes split; not differences
_INTEGER = (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}  # bytes of true, false, a byte, a double
_BINARY, _LISTS, _STRUCT = 8, (9, 10), 12


def check_pages(source: BinaryIO, metadata: FileMetaData, most: int) -> None:
    """See that no page unpacks to more than `most` bytes, and how its values are written.

    Raises
    ------
    AtlasFileError
        When one does, is written as atlases are not, or is not where the description says.
    """
    for group in range(metadata.num_row_groups):
        described = metadata.row_group(group)
        for index in range(described.num_columns):
            column = described.column(index)
            at = column.data_page_offset
            if column.has_dictionary_page and 0 < column.dictionary_page_offset < at:
                at = column.dictionary_page_offset
            end = at + column.total_compressed_size
            while at < end:
                header, unpacked, packed = _page(source, at)
                if unpacked > most:
                    raise AtlasFileError(
                        f"The file has a page of {unpacked / 1e6:,.0f} MB, more than its tokens"
                        " can take."
                    )
                at += header + packed


def _page(source: BinaryIO, at: int) -> tuple[int, int, int]:
    """Bytes of the page's header, of the page unpacked, and of it as it is stored."""
    source.seek(at)
    cursor = _Cursor(source.read(_LONGEST_HEADER))
    try:
        found = cursor.struct()
    except IndexError as error:
        raise AtlasFileError("The file is damaged: a page of it has no end.") from error
    unpacked, packed = found.get(_UNPACKED, -1), found.get(_PACKED, -1)
    if unpacked < 0 or packed < 0:
        raise AtlasFileError("The file is damaged: a page of it has no size.")
    used = {inner.get(number) for field, number in _ENCODINGS if (inner := cursor.inner.get(field))}
    if not used <= _KNOWN_ENCODINGS:
        raise AtlasFileError("The file has a page in an encoding that atlases do not use.")
    return cursor.at, unpacked, packed


class _Cursor:
    """Reads a Thrift struct; an IndexError tells that it goes on where there is nothing."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0
        self.inner: dict[int, dict[int, int]] = {}  # integer fields of the structs in the outermost

    def struct(self, depth: int = 0) -> dict[int, int]:
        """Its integer fields by number; all others are passed over.

        Numbers have to ascend: of a field that comes twice readers might take either.
        """
        if depth > _DEEPEST:
            raise IndexError
        found: dict[int, int] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            following = number + step if step else self._integer()
            if following <= number:
                raise AtlasFileError("The file is damaged: a page's header is out of order.")
            number = following
            if kind in _INTEGER:
                found[number] = self._integer()
            elif kind == _STRUCT:
                fields = self.struct(depth + 1)
                if depth == 0:
                    self.inner[number] = fields
            else:
                self._pass(kind, depth)
        return found

    def _pass(self, kind: int, depth: int) -> None:
        if kind in _FIXED:
            self.at += _FIXED[kind]
        elif kind in _INTEGER:
            self._varint()
        elif kind == _BINARY:
            size = self._varint()  # which moves on, too
            self.at += size
        elif kind == _STRUCT:
            self.struct(depth + 1)
        elif kind in _LISTS and depth < _DEEPEST:
            head = self._byte()
            count = self._varint() if head >> 4 == 15 else head >> 4
            if count > len(self.raw):
                raise IndexError
            for _ in range(count):
                # In a list even true and false take a byte.
                self._pass(3 if head & 15 in {1, 2} else head & 15, depth + 1)
        else:  # a map, or nothing that there is: page headers have neither
            raise IndexError

    def _byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

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
