"""The zip file of a small atlas, opened without trusting it.

Its members are stored as they are, so a reader can go to a head directly, and a small file can
never unpack to a large one.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO

from core.atlas.files.errors import AtlasFileError
from core.atlas.files.tables import POINTS_TABLE, SENTENCES_TABLE, TOKENS_TABLE, part_name

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DESCRIPTION, ARRAYS = "atlas.json", "atlas.safetensors"
POINTS, TOKENS, SENTENCES = (
    part_name(table, 0) for table in (POINTS_TABLE, TOKENS_TABLE, SENTENCES_TABLE)
)
MEMBERS = frozenset({DESCRIPTION, ARRAYS, POINTS, TOKENS, SENTENCES})
MAX_FILE = 2**31 - 1  # bytes; larger zip files need another directory
_END = struct.Struct("<4s4H2LH")  # the record at the end of every zip file without a comment
_LOCAL = struct.Struct("<4s5H3L2H")  # the record before a member
_ENTRY_BYTES = 256  # of one member in the directory: 46 and its name, with room
_CHUNK = 2**20  # bytes read at once of a member


@dataclass(frozen=True)
class Archive:
    """A zip file with the members of an atlas, each undamaged, none over another."""

    source: BinaryIO
    places: dict[str, tuple[int, int]]  # first byte and size, by name

    def read(self, name: str, max_bytes: int) -> bytes:
        """A whole member; `AtlasFileError` when it is larger."""
        start, size = self.places[name]
        if size > max_bytes:
            raise AtlasFileError(
                f"“{name}” in the file has {size / 1e6:.1f} MB; the limit is"
                f" {max_bytes / 1e6:.1f} MB."
            )
        self.source.seek(start)
        return self.source.read(size)

    def window(self, name: str) -> io.BufferedReader:
        """A member as a file of its own, read from where it is."""
        return io.BufferedReader(_Window(self.source, *self.places[name]), _CHUNK)


class _Window(io.RawIOBase):
    """A part of a file."""

    def __init__(self, source: BinaryIO, start: int, size: int) -> None:
        self._source, self._start, self._size, self._place = source, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = max(0, base + offset)
        return self._place

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        count = max(0, min(len(view), self._size - self._place))
        self._source.seek(self._start + self._place)
        data = self._source.read(count)
        view[: len(data)] = data
        self._place += len(data)
        return len(data)


def open_archive(source: BinaryIO) -> Archive:
    """The members of an atlas in a zip file, with their checksums checked.

    Raises `AtlasFileError` when the file is no zip file, has other members than an atlas, has them
    packed, or is damaged.
    """
    directory = _check_end(source)
    try:
        with zipfile.ZipFile(source) as file:
            entries = file.infolist()
            _check_entries(entries)
            places = {entry.filename: _place(source, entry) for entry in entries}
            _check_places(places, directory)
            if damaged := file.testzip():
                raise AtlasFileError(f"“{damaged}” in the file does not match its checksum.")
    except (
        zipfile.BadZipFile,
        NotImplementedError,  # of zipfile, for what it cannot unpack
        UnicodeDecodeError,  # of zipfile, for names that are not what their flag says
        struct.error,
    ) as error:
        raise AtlasFileError("The file is a damaged zip file.") from error
    return Archive(source, places)


def new_member(file: zipfile.ZipFile, name: str) -> IO[bytes]:
    """A member to write to; the same atlas gives the same bytes, so it has no date."""
    return file.open(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), "w")


def _check_end(source: BinaryIO) -> int:
    """Where the directory begins, which is small: it is read whole, before it can be checked."""
    size = source.seek(0, os.SEEK_END)
    source.seek(max(0, size - 2 * _END.size))
    end = source.read()[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\5\6"):
        raise AtlasFileError("The file is not an atlas: it is not a zip file, or it is incomplete.")
    *_, count, length, start, comment = _END.unpack(end)
    source.seek(size - _END.size - 20 if size >= _END.size + 20 else 0)
    if source.read(4) == b"PK\6\7" or start + length != size - _END.size or comment:
        raise AtlasFileError("The file is not an atlas: its zip directory is of another kind.")
    if count != len(MEMBERS) or length > len(MEMBERS) * _ENTRY_BYTES:
        raise AtlasFileError(f"The file is not an atlas: it has {count:,} members.")
    return int(start)


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) != len(MEMBERS) or {entry.filename for entry in entries} != MEMBERS:
        names = ", ".join(sorted(MEMBERS))
        raise AtlasFileError(f"The file is not an atlas, whose members are {names}.")
    for entry in entries:
        stored = entry.compress_type == zipfile.ZIP_STORED
        if not stored or entry.file_size != entry.compress_size or entry.flag_bits & 1:
            raise AtlasFileError(f"“{entry.filename}” in the file is packed or locked.")


def _place(source: BinaryIO, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """Where a member's bytes begin, and how many there are."""
    source.seek(entry.header_offset)
    mark, *_, name, extra = _LOCAL.unpack(source.read(_LOCAL.size))
    if mark != b"PK\3\4" or source.read(name).decode("ascii", "replace") != entry.filename:
        raise AtlasFileError(f"“{entry.filename}” in the file is not where it should be.")
    return entry.header_offset + _LOCAL.size + name + extra, entry.file_size


def _check_places(places: dict[str, tuple[int, int]], directory: int) -> None:
    """No member reaches into another, or into the directory."""
    ends = 0
    for start, size in sorted(places.values()):
        if start < ends:
            raise AtlasFileError("The members of the file lie over each other.")
        ends = start + size
    if ends > directory:
        raise AtlasFileError("The members of the file lie over its directory.")
