"""What all visitors share and is large, bounded by bytes: what was used least lately goes first."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

Kept = TypeVar("Kept")


class SharedCache(Generic[Kept]):
    """Places for large things by their keys, of so many bytes together; any thread may use them.

    A thing that alone takes more than all may has a place of its own beside the others: there is
    one such place, and whoever comes to it next takes it over. What was asked for last is never
    dropped, nor what is held.

    Parameters
    ----------
    max_bytes : that all may take.
    size_of : how many bytes a thing takes; asked whenever another is asked for, so it is quick.
    on_drop : is told what goes.
    """

    def __init__(
        self,
        max_bytes: int,
        size_of: Callable[[Kept], int],
        on_drop: Callable[[Kept], object] | None = None,
    ) -> None:
        self.max_bytes = max_bytes
        self._size_of = size_of
        self._on_drop = on_drop
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()  # the last used comes last
        self._held: dict[int, int] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        """Bytes of all things together."""
        with self._lock:
            return sum(map(self._size_of, self._kept.values()))

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The thing with this key, made quickly where there is none. Others may have to go."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            self._kept.move_to_end(key)
            self._trim(0)
            return self._kept[key]

    @contextmanager
    def holding(self, thing: Kept) -> Iterator[None]:
        """Meanwhile it is not dropped: somebody works on it."""
        with self._lock:
            self._held[id(thing)] = self._held.get(id(thing), 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._held[id(thing)] -= 1
                if not self._held[id(thing)]:
                    del self._held[id(thing)]

    def make_room(self, size: int) -> None:
        """Drop what must go for one more thing of this size."""
        with self._lock:
            self._trim(size)

    def drop_oldest(self) -> bool:
        """Drop what was used least lately, as memory is short; False where there is nothing."""
        with self._lock:
            for key in list(self._kept)[:-1]:
                if id(self._kept[key]) not in self._held and self._size_of(self._kept[key]):
                    self._drop(key)
                    return True
        return False

    def _trim(self, more: int) -> None:
        sizes = {key: self._size_of(thing) for key, thing in self._kept.items()}
        large = [key for key, size in sizes.items() if size > self.max_bytes]
        small = [key for key in sizes if key not in large]
        total = sum(sizes[key] for key in small) + (more if more <= self.max_bytes else 0)
        too_large = large if more > self.max_bytes else large[:-1]
        newest = next(reversed(self._kept), None)
        for key in [*too_large, *small]:
            if key == newest or id(self._kept[key]) in self._held:
                continue
            if key in too_large or total > self.max_bytes:
                total -= sizes[key] if key in small else 0
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        thing = self._kept.pop(key)
        if self._on_drop is not None:
            self._on_drop(thing)


def bytes_of(thing: object) -> int:
    """About how many bytes an object takes: its arrays, texts and containers, each counted once."""
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            total += one.nbytes
        elif isinstance(one, str | bytes):
            total += sys.getsizeof(one)
        elif isinstance(one, dict):
            total += sys.getsizeof(one)
            waiting += one.values()
        elif isinstance(one, tuple | list):
            total += sys.getsizeof(one)
            waiting += one
        elif is_dataclass(one) and not isinstance(one, type):
            waiting += [getattr(one, each.name) for each in fields(one)]
    return total
