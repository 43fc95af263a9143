"""A cache of large objects that all visitors share, bounded by bytes, least recently used first."""

from __future__ import annotations

import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Generic, TypeVar

import numpy as np

Entry = TypeVar("Entry")


class SharedCache(Generic[Entry]):
    """Large objects by key, bounded in total size; safe for use by any thread.

    An entry that exceeds the limit by itself gets a separate place, of which there is one: the next
    such entry takes it over. The entry asked for last is never dropped, nor one that is held.
    cachetools and ``st.cache_data(max_size=...)`` measure an entry once, when it arrives, and drop
    held ones, and the second gives copies: atlases grow here.

    Parameters
    ----------
    max_bytes : limit on the total size.
    size_of : the size of an entry in bytes; called for all entries at every request.
    on_drop : called with each entry that is dropped.
    """

    def __init__(
        self,
        max_bytes: int,
        size_of: Callable[[Entry], int],
        on_drop: Callable[[Entry], object] | None = None,
    ) -> None:
        self.max_bytes = max_bytes
        self._size_of = size_of
        self._on_drop = on_drop
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()  # the last used is last
        self._holders: Counter[int] = Counter()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of all entries together."""
        with self._lock:
            return sum(map(self._size_of, self._entries.values()))

    def get(self, key: Hashable, make: Callable[[], Entry]) -> Entry:
        """The entry with this key, made if missing (quickly); others may have to go."""
        with self._lock:
            if key not in self._entries:
                self._entries[key] = make()
            self._entries.move_to_end(key)
            self.make_room(0)
            return self._entries[key]

    @contextmanager
    def holding(self, entry: Entry) -> Iterator[None]:
        """Keep an entry from being dropped while somebody works on it."""
        with self._lock:
            self._holders[id(entry)] += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders[id(entry)] -= 1
                self._holders += Counter()  # forgets those at zero

    def make_room(self, size: int) -> None:
        """Drop what must go before another entry of this size arrives."""
        with self._lock:
            sizes = {key: self._size_of(entry) for key, entry in self._entries.items()}
            large = [key for key in sizes if sizes[key] > self.max_bytes]
            small = [key for key in sizes if key not in large]
            total = sum(sizes[key] for key in small) + (size if size <= self.max_bytes else 0)
            displaced = large if size > self.max_bytes else large[:-1]
            newest = next(reversed(self._entries), None)
            for key in [*displaced, *small]:
                if key == newest or self._holders[id(self._entries[key])]:
                    continue
                if key in displaced or total > self.max_bytes:
                    total -= sizes[key] if key in small else 0
                    self._drop(key)

    def drop_oldest(self) -> bool:
        """Drop the least recently used entry, as memory is short; False if none can go."""
        with self._lock:
            for key, entry in list(self._entries.items())[:-1]:
                if not self._holders[id(entry)] and self._size_of(entry):
                    self._drop(key)
                    return True
        return False

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key)
        if self._on_drop is not None:
            self._on_drop(entry)


def bytes_of(thing: object) -> int:
    """Approximate size of an object: its arrays, strings and containers, each counted once."""
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            total += each.nbytes
        elif isinstance(each, str | bytes | dict | tuple | list):
            total += sys.getsizeof(each)
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, tuple | list):
            waiting += each
        elif is_dataclass(each) and not isinstance(each, type):
            waiting += [getattr(each, field.name) for field in fields(each)]
    return total
