"""What the pages of a Parquet file say of themselves, before any of them is unpacked.

A page is unpacked into as many bytes as its own header names, up to 2 GB, whatever the file's
description at its end says, and some encodings let a short text stand for a long one again and
again. Their headers are PageHeader in parquet.thrift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.thrift import Cursor

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_LONGEST_HEADER = 4096  # bytes; those of numbers and of texts without statistics take 50
_UNPACKED, _PACKED = 2, 3  # fields of a page's header: its sizes in bytes
_ENCODINGS = ((5, 2), (8, 4))  # where the encoding is in a page of either version
_KNOWN_ENCODINGS = {0, 2, 3, 8, 9}  # plain, by dictionary or runs, bytes split; not differences


def check_pages(source: BinaryIO, metadata: FileMetaData, most: int) -> None:
    """See that no column of a group unpacks to more than `most` bytes, and how it is written.

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
            total = 0
            while at < end:
                header, unpacked, packed = _page(source, at)
                total += unpacked
                if total > most:
                    raise AtlasFileError(
                        f"The file has pages of {total / 1e6:,.0f} MB, more than its tokens"
                        " can take."
                    )
                at += header + packed


def _page(source: BinaryIO, at: int) -> tuple[int, int, int]:
    """Bytes of the page's header, of the page unpacked, and of it as it is stored."""
    source.seek(at)
    cursor = Cursor(source.read(_LONGEST_HEADER))
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
