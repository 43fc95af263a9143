"""Thrift's compact protocol, as far as Parquet's metadata uses it.

It is read here before a library reads it: a list of a million entries can be a few bytes in a file,
and a hundred bytes of memory for each entry in a reader that loads them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.atlas.saved.errors import AtlasFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH = 8  # structs within structs
_INTEGER = (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}  # bytes of true, false, a byte, a double
BINARY, LISTS, STRUCT = 8, (9, 10), 12


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
