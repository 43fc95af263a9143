"""What is large and shared is bounded by bytes, and what was used least lately goes first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from core.analysis.query_key.faithfulness import Faithfulness
from core.atlas.layouts import Layout
from core.screens.atlas.corpus.entry import AtlasEntry
from core.ui.serve.shared_cache import SharedCache, bytes_of


@dataclass(eq=False)
class Thing:
    size: int = 0


def shelves_of(most: int, **sizes: int) -> SharedCache[Thing]:
    """SharedCache with these things, put there in this order."""
    shelves: SharedCache[Thing] = SharedCache(most, lambda thing: thing.size)
    for name, size in sizes.items():
        shelves.get(name, Thing).size = size
    return shelves


def kept(shelves: SharedCache[Thing]) -> str:
    return "".join(str(key) for key in shelves._entries)


def test_what_fits_stays_however_many_there_are() -> None:
    shelves = shelves_of(100, a=25, b=25, c=25, d=25)
    for name in "abcd" * 3:
        assert shelves.get(name, Thing).size == 25
    assert shelves.size == 100


def test_what_was_used_least_lately_goes_first() -> None:
    shelves = shelves_of(100, a=40, b=40, c=20)
    shelves.get("a", Thing)
    shelves.make_room(30)
    assert kept(shelves) == "ca"


def test_the_bound_holds_under_many_small_things() -> None:
    shelves = shelves_of(100)
    for number in range(1000):
        shelves.get(number, Thing).size = 7
        assert shelves.size <= 100 + 7  # the newest is measured when the next one comes
    assert len(shelves) == 15


def test_one_beyond_the_bound_has_a_place_of_its_own_and_throws_out_nobody() -> None:
    shelves = shelves_of(100, a=50, b=50)
    shelves.make_room(1000)
    shelves.get("large", Thing).size = 1000
    for name in ("a", "b", "large", "a", "b"):
        assert shelves.get(name, Thing).size
    assert shelves.size == 1100


def test_there_is_one_such_place() -> None:
    shelves = shelves_of(100, a=50, x=1000)
    shelves.make_room(2000)
    assert kept(shelves) == "ax"  # who asked last is never dropped
    shelves.get("y", Thing).size = 2000
    shelves.get("a", Thing)
    assert kept(shelves) == "ya"


def test_what_is_held_and_what_was_asked_for_last_are_never_dropped() -> None:
    shelves = shelves_of(100, a=60, b=60)
    with shelves.holding(shelves.get("a", Thing)):
        shelves.get("c", Thing)
        assert kept(shelves) == "ac"  # a is older than b, and held
        shelves.get("c", Thing).size = 90
        shelves.make_room(90)
        assert kept(shelves) == "ac"
    shelves.make_room(90)
    assert kept(shelves) == "c"


def test_where_memory_is_short_the_oldest_goes_but_not_the_last() -> None:
    shelves = shelves_of(100, a=10, empty=0, b=10)
    assert shelves.drop_oldest()
    assert kept(shelves) == "emptyb"
    assert not shelves.drop_oldest()


def test_many_threads_may_use_them() -> None:
    shelves = shelves_of(50)

    def work(seed: int) -> None:
        for number in np.random.default_rng(seed).integers(0, 30, 500).tolist():
            with shelves.holding(shelves.get(number, Thing)):
                shelves.get(number, Thing).size = 10

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))  # raises what any of them raised
    assert not shelves._holders
    shelves.make_room(0)
    assert shelves.size <= 50


def test_bytes_are_counted_once_and_through_all_containers() -> None:
    array = np.zeros(1000)
    assert bytes_of(array) == 8000
    assert 16_000 < bytes_of([array, {"a": array, "b": np.ones(1000)}]) < 17_000
    text = "x" * 5000
    assert 5000 < bytes_of((text, text, [text])) < 5500


def test_an_entry_counts_its_layouts() -> None:
    entry = AtlasEntry()
    assert entry.size < 100
    tokens, points = np.arange(50), np.zeros((100, 2), np.float32)
    entry.layouts["PCA", "raw", 0, 0, 2, 50] = Layout(tokens, points, Faithfulness(0, 0, 0, 0, 0))
    assert entry.size == tokens.nbytes + points.nbytes
