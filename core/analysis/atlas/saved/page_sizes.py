"""The headers of a Parquet file's pages, checked before any page is unpacked.

A page is unpacked into as many bytes as its own header says, up to 2 GB, whatever the metadata at
the file's end says, and some encodings can repeat a long text in a few bytes. The headers are
PageHeader in parquet.thrift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.thrift import Cursor

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

_MAX_HEADER = 4096  # bytes; without statistics it takes 50
_UNPACKED, _PACKED = 2, 3  # fields of a page's header: its sizes in bytes
_ENCODINGS = ((5, 2), (8, 4))  # where the encoding is in a page of either version
_KNOWN_ENCODINGS = {0, 2, 3, 8, 9}  # plain, dictionary, runs, byte split; not deltas


def check_pages(source: BinaryIO, metadata: FileMetaData, max_bytes: int) -> None:
    """Check that no column of a group unpacks to more than `max_bytes`, and its encodings.

    Raises
    ------
    AtlasFileError
        When one does, has an encoding that atlases do not use, or is not where it should be.
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
