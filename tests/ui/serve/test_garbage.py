"""What lasts is not searched for garbage after every answer, and nothing is lost by it."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from streamlit import config

from core.ui import cache
from core.ui.serve import garbage
from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


class InACycle:
    """Never freed by its count of references alone, as networks of some models are."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _this_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which nothing was searched yet; afterwards, nothing frozen."""
    monkeypatch.setattr(garbage, "_state", garbage._State())
    gc.unfreeze()
    yield
    gc.unfreeze()


def unfrozen() -> int:
    return len(gc.get_objects())


def test_what_has_lasted_is_searched_once() -> None:
    lasting = [[number] for number in range(100_000)]
    garbage.search()
    assert gc.get_freeze_count() > len(lasting)
    assert unfrozen() < len(lasting) / 10


def test_what_came_later_and_lasts_is_searched_once_too(monkeypatch: pytest.MonkeyPatch) -> None:
    garbage.search()
    lasting = [[number] for number in range(100_000)]
    monkeypatch.setattr(garbage, "LONG_SECONDS", 0.0)  # how long it takes is the machine's
    garbage.search()
    assert unfrozen() < len(lasting) / 10


@pytest.mark.parametrize("asked", [True, False])
def test_what_was_frozen_is_found_when_asked_for_or_after_so_many_answers(asked: bool) -> None:
    kept = InACycle()
    garbage.search()
    gone = weakref.ref(kept)
    del kept
    garbage.search()
    assert gone() is not None  # frozen: this search passes it over
    if asked:
        garbage.request_full_search()
    for _ in range(1 if asked else garbage.EVERYTHING_AFTER):
        garbage.search()
    assert gone() is None


def test_no_search_lists_what_other_threads_are_building(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple that somebody else holds cannot grow: its thread would end with a SystemError."""
    listed: list[object] = []

    def list_objects(*wanted: object) -> list[object]:
        listed.append(wanted)
        return []

    monkeypatch.setattr(gc, "get_objects", list_objects)
    for _ in range(4):
        garbage.search()
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
    garbage.search()
    for name in ("second", "third"):  # two are kept
        cache.model(name)
    garbage.search()
    assert [model() is None for model in loaded] == [True, False, False]
    cache.loaded_model.clear()


def test_every_run_of_a_page_searches_and_nothing_runs_within_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python code within one lets other threads into C code that the search began in."""
    within, searched = list(gc.callbacks), list[None]()
    monkeypatch.setattr(garbage, "search", lambda: searched.append(None))
    assert not config.get_option("runner.postScriptGC")
    app = open_app("heatmap")
    assert len(searched) == 1
    app.run()
    assert len(searched) == 2
    assert gc.callbacks == within


def test_a_run_that_ends_by_another_searches_too() -> None:
    garbage._state.due = True
    with pytest.raises(KeyError), garbage.search_afterwards():
        raise KeyError
    assert not garbage._state.due
