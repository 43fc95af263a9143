"""What is kept, and by whom: first loads, answers of a session, atlases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from core.model import ModelError
from core.model.bundled.first import TEXT
from core.screens.atlas.corpus import entry
from core.screens.atlas.corpus.entry import AtlasEntry, atlas_entries, find_atlas, keep_atlas
from core.ui import cache
from core.ui.cache import remembered
from core.ui.serve.long_work import FirstLoad

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 60.0  # seconds, on a busy machine


class Model:
    """Stands in for what is loaded."""


@pytest.fixture
def _nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cache.loaded_model.clear()
    monkeypatch.setitem(cache.first_loads, (TEXT, "text"), FirstLoad())
    yield
    cache.loaded_model.clear()


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_forty_visitors_at_once_wait_for_one_load(monkeypatch: pytest.MonkeyPatch) -> None:
    come, loads = threading.Barrier(40), []

    def load(name: str, **_: Any) -> Model:
        loads.append((name, threading.current_thread().name))
        return Model()

    def visit(_: int) -> object:
        come.wait(PATIENCE)
        return cache.model(TEXT)

    monkeypatch.setattr("core.model.load", load)
    with ThreadPoolExecutor(40) as visitors:
        given = set(visitors.map(visit, range(40)))
    assert len(given) == 1
    assert loads == [("bundled/minilm", "first load")]
    assert cache.first_loads[TEXT, "text"].is_ready


def test_whoever_waits_learns_each_stage() -> None:
    reached, go_on, seen = threading.Semaphore(0), threading.Semaphore(0), []
    first: FirstLoad[Model] = FirstLoad()

    def load(on_stage: Any) -> Model:
        for stage in ("importing", "reading", "checking"):
            on_stage(stage)
            reached.release()
            assert go_on.acquire(timeout=PATIENCE)
        return Model()

    first.begin(load)
    for _ in range(3):
        assert reached.acquire(timeout=PATIENCE)
        seen.append(first.stage)
        assert not first.wait(0.0)
        assert not first.is_ready
        go_on.release()
    assert seen == ["importing", "reading", "checking"]
    assert first.wait(PATIENCE)
    model = first.take()
    assert first.is_ready
    del model  # dropped from the cache: the next visitor has to wait again
    assert not first.is_ready


def test_a_load_that_may_wait_begins_at_once_when_somebody_needs_it() -> None:
    begun = threading.Event()
    first: FirstLoad[Model] = FirstLoad()

    def load(_: object) -> Model:
        begun.set()
        return Model()

    first.begin(load, delay=PATIENCE)
    assert not begun.wait(0.1)
    first.begin(load)
    assert begun.wait(PATIENCE / 2)
    assert isinstance(first.take(), Model)


@pytest.mark.usefixtures("_nothing_is_loaded")
def test_after_a_failure_the_next_visitor_loads_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[ModelError | Model] = [ModelError("There is no memory."), Model()]

    def load(*_: Any, **__: Any) -> Model:
        result = loads.pop(0)
        if isinstance(result, ModelError):
            raise result
        return result

    monkeypatch.setattr("core.model.load", load)
    with pytest.raises(ModelError, match="no memory"):
        cache.model(TEXT)
    assert isinstance(cache.model(TEXT), Model)
    assert loads == []


@pytest.fixture
def _session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


@pytest.mark.usefixtures("_session")
def test_a_question_is_answered_once_until_as_many_others_were_asked() -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        def find_out() -> str:
            asked.append(question)
            return question.upper()

        return remembered("key", question, find_out, 2)

    assert [answer(each) for each in "abab"] == ["A", "B", "A", "B"]
    assert asked == ["a", "b"]
    assert answer("c") == "C"
    assert answer("a") == "A"
    assert asked == ["a", "b", "c", "a"]


@pytest.mark.usefixtures("_session")
def test_what_failed_is_tried_again() -> None:
    def fail() -> str:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        remembered("key", "question", fail)
    assert remembered("key", "question", lambda: "now") == "now"


SOURCE: Any = object()


@pytest.fixture
def _no_atlases() -> None:
    st.cache_resource.clear()


def keep(names: str, size: int = 0) -> None:
    for name in names:
        keep_atlas(("", name), AtlasEntry(SOURCE, size=size))


def kept() -> str:
    return "".join(name for _, name in atlas_entries())


@pytest.mark.usefixtures("_no_atlases")
def test_the_least_recently_used_goes_first() -> None:
    assert entry.MAX_ATLASES == 3
    keep("abc")
    assert find_atlas(("", "a")) is not None
    keep("d")
    assert kept() == "cad"
    assert find_atlas(("", "b")) is None


@pytest.mark.usefixtures("_no_atlases")
def test_where_memory_is_short_older_ones_go_and_more_than_all_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry, "available_bytes", lambda: 30 - 10 * len(kept()))
    keep("abc", size=10)
    assert entry.too_large(16) == entry.take_memory(16) == ""
    assert kept() == "c"
    assert "are free" in entry.take_memory(25)
    assert kept() == "c"
