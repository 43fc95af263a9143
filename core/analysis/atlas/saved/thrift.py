"""Thrift's compact protocol, as far as Parquet's descriptions of itself use it.

Read here before a library reads it: a list of a million entries is a few bytes in a file, and some
hundred bytes of memory for each of them in a reader that takes all of them in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.atlas.saved.errors import AtlasFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 8  # structs within structs
_INTEGER = (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}  # bytes of true, false, a byte, a double
BINARY, LISTS, STRUCT = 8, (9, 10), 12


class Cursor:
    """Reads a Thrift struct; an IndexError tells that it goes on where there is nothing.

    `longest_list` is how many entries a list may have that is passed over, and `most_entries` how
    many all of them together.
    """

    def __init__(self, raw: bytes, longest_list: int = 64, most_entries: int = 4096) -> None:
        self.raw = raw
        self.at = 0
        self.longest_list = longest_list
        self.entries_left = most_entries
        self.inner: dict[int, dict[int, int]] = {}  # integer fields of the structs in the outermost

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and kind of each field of a struct; the value is to be read before the next.

        Numbers have to ascend: of a field that comes twice readers might take either.
        """
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            following = number + step if step else self._integer()
            if following <= number:
                raise AtlasFileError("The file is damaged: a description in it is out of order.")
            number = following
            yield number, kind

    def struct(self, depth: int = 0) -> dict[int, int]:
        """Its integer fields by number; all others are passed over."""
        if depth > _DEEPEST:
            raise IndexError
        found: dict[int, int] = {}
        for number, kind in self.fields():
            if kind in _INTEGER:
                found[number] = self._integer()
            elif kind == STRUCT:
                fields = self.struct(depth + 1)
                if depth == 0:
                    self.inner[number] = fields
            else:
                self.skip(kind, depth)
        return found

    def entries(self) -> tuple[int, int]:
        """How many entries a list has, and of which kind."""
        head = self._byte()
        return (self._varint() if head >> 4 == 15 else head >> 4), head & 15

    def binary(self) -> bytes:
        """Bytes of a text."""
        size = self._varint()
        self.at += size
        if self.at > len(self.raw):
            raise IndexError
        return self.raw[self.at - size : self.at]

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value of this kind."""
        if kind in _FIXED:
            self.at += _FIXED[kind]
        elif kind in _INTEGER:
            self._varint()
        elif kind == BINARY:
            size = self._varint()  # which moves on, too
            self.at += size
        elif kind == STRUCT:
            self.struct(depth + 1)
        elif kind in LISTS and depth < _DEEPEST:
            count, of = self.entries()
            self.entries_left -= count
            if count > self.longest_list or self.entries_left < 0:
                raise AtlasFileError("The file is damaged: a list in it has no end.")
            for _ in range(count):
                # In a list even true and false take a byte.
                self.skip(3 if of in {1, 2} else of, depth + 1)
        else:  # a map, or nothing that there is: what is read here has neither
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
