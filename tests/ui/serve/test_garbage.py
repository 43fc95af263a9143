"""What lasts is not searched for garbage after every answer, and nothing is lost by it."""

from __future__ import annotations

import gc
import queue
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from core.ui import cache
from core.ui.serve import garbage

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


class InACycle:
    """Never freed by its count of references alone, as networks of some models are."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _this_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which nothing watches yet; afterwards, Python's list of callbacks as before.

    Whatever loaded a model before has begun to watch, and then a search of Python's own accord,
    while a test makes its objects, would be the one that the test asks for.
    """
    before = list(gc.callbacks)
    gc.callbacks[:] = [each for each in before if each is not garbage._watch]
    monkeypatch.setattr(garbage, "_state", garbage._State())
    gc.unfreeze()
    yield
    gc.callbacks[:] = before
    gc.unfreeze()


def unfrozen() -> int:
    return len(gc.get_objects())


def test_what_has_lasted_is_searched_once() -> None:
    lasting = [[number] for number in range(100_000)]
    garbage.freeze_long_lived()
    gc.collect()
    assert gc.get_freeze_count() > len(lasting)
    assert unfrozen() < len(lasting) / 10


def test_what_came_later_and_lasts_is_searched_once_too(monkeypatch: pytest.MonkeyPatch) -> None:
    garbage.freeze_long_lived()
    gc.collect()
    lasting = [[number] for number in range(100_000)]
    monkeypatch.setattr(garbage, "LONG_SECONDS", 0.0)  # how long it takes is the machine's
    gc.collect()
    assert unfrozen() < len(lasting) / 10


@pytest.mark.parametrize("asked", [True, False])
def test_what_was_frozen_is_found_when_asked_for_or_after_so_many_answers(asked: bool) -> None:
    kept = InACycle()
    garbage.freeze_long_lived()
    gc.collect()
    gone = weakref.ref(kept)
    del kept
    gc.collect()
    assert gone() is not None  # frozen: this search passes it over
    if asked:
        garbage.request_full_search()
    for _ in range(1 if asked else garbage.EVERYTHING_AFTER):
        gc.collect()
    assert gone() is None


def test_no_search_lists_what_other_threads_are_building(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple that somebody else holds cannot grow: its thread would end with a SystemError."""
    listed: list[object] = []

    def list_objects(*wanted: object) -> list[object]:
        listed.append(wanted)
        return []

    monkeypatch.setattr(gc, "get_objects", list_objects)
    garbage.freeze_long_lived()
    for _ in range(4):
        gc.collect()
    assert not listed


def test_a_model_dropped_from_the_cache_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[weakref.ref[InACycle]] = []

    def load(_name: str, **_: Any) -> InACycle:
        model = InACycle()
        loaded.append(weakref.ref(model))
        return model

    monkeypatch.setattr("core.model.load", load)
    cache.loaded_model.clear()
    cache.model("first")
    gc.collect()
    for name in ("second", "third"):  # two are kept
        cache.model(name)
    gc.collect()
    assert [model() is None for model in loaded] == [True, False, False]
    cache.loaded_model.clear()


def test_memory_goes_back_outside_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which must not let go of the interpreter's lock: it may begin inside C code."""
    threads: queue.Queue[int] = queue.Queue()
    monkeypatch.setattr(garbage, "_return_free_memory", lambda: threads.put(threading.get_ident()))
    garbage.freeze_long_lived()
    for _ in range(garbage.TRIM_AFTER + 1):
        gc.collect()
    found = {threads.get(timeout=60) for _ in range(2)}
    assert threading.get_ident() not in found
