"""Where the parts of a corpus are kept while an atlas is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from core.atlas.engine.shard import Shard, ShardBuilder
from core.atlas.engine.sums import Sums


class Store(Protocol):
    """Parts by their index. One without a sentence is finished too, and has no sums."""

    def finished(self, index: int) -> bool:
        """Whether the part is there, whole."""
        ...

    def builder(
        self, index: int, share: float, lengths: Mapping[int, int] | None = None
    ) -> ShardBuilder:
        """What there is of an unfinished part; `lengths` of all its sentences, by number."""
        ...

    def put(self, index: int, part: Shard | None) -> None:
        """Keep a finished part, in the place of any other with its index."""
        ...

    def sums(self, index: int) -> Sums | None:
        """Those of a finished part."""
        ...


class MemoryStore:
    """Parts in memory, those that are begun included: what is run is never run again."""

    def __init__(self) -> None:
        self.parts: dict[int, Shard | None] = {}
        self.begun: dict[int, ShardBuilder] = {}

    @property
    def count(self) -> int:
        """Tokens so far."""
        finished = sum(len(part.tokens) for part in list(self.parts.values()) if part is not None)
        return finished + sum(builder.count for builder in list(self.begun.values()))

    @property
    def nbytes(self) -> int:
        """Of the vectors so far."""
        parts = [part for part in list(self.parts.values()) if part is not None]
        return sum(
            part.vectors.queries.nbytes + part.vectors.kv_keys.nbytes for part in parts
        ) + sum(builder.nbytes for builder in list(self.begun.values()))

    def finished(self, index: int) -> bool:
        """As in :class:`Store`."""
        return index in self.parts

    def builder(
        self, index: int, share: float, lengths: Mapping[int, int] | None = None
    ) -> ShardBuilder:
        """As in :class:`Store`; a builder that may be copied has no room made for it."""
        del lengths
        return self.begun.setdefault(index, ShardBuilder(index, share))

    def put(self, index: int, part: Shard | None) -> None:
        """As in :class:`Store`."""
        self.parts[index] = part
        self.begun.pop(index, None)

    def sums(self, index: int) -> Sums | None:
        """As in :class:`Store`."""
        part = self.parts[index]
        return None if part is None else part.sums

    def copy(self) -> MemoryStore:
        """An independent copy; vectors, which never change, are shared."""
        other = MemoryStore()
        other.parts = dict(self.parts)
        other.begun = {index: builder.copy() for index, builder in self.begun.items()}
        return other
