"""What is kept, and by whom: first loads, answers of a session, atlases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st

from core.model.bundled.first import TEXT
from core.model.opening.load import Phase
from core.screens.atlas.corpus import entry
from core.screens.atlas.corpus.entry import AtlasEntry, atlas_entries, find_atlas, keep_atlas
from core.ui import cache
from core.ui.cache import remembered
from core.ui.serve.long_work import FirstLoad

PATIENCE = 60.0  # seconds, on a busy machine
Model: Any = type("Model", (), {})  # stands in for what is loaded


def test_forty_visitors_at_once_wait_for_one_load(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.loaded_model.clear()
    monkeypatch.setitem(cache.first_loads, (TEXT, "text"), FirstLoad())
    come, loads = threading.Barrier(40), []

    def load(name: str, **_: Any) -> Any:
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
    cache.loaded_model.clear()


def test_a_load_that_may_wait_begins_when_it_is_needed_and_each_stage_is_told() -> None:
    reached, go_on = threading.Barrier(2, timeout=PATIENCE), threading.Barrier(2, timeout=PATIENCE)
    first: FirstLoad[Any] = FirstLoad()
    stages: tuple[Phase, ...] = ("importing", "reading", "checking")

    def load(on_stage: Callable[[Phase], None]) -> Any:
        for stage in stages:
            on_stage(stage)
            reached.wait()
            go_on.wait()
        return Model()

    first.begin(load, delay=PATIENCE)
    assert not first.wait(0.1)
    assert first.stage is None
    first.begin(load)
    for stage in stages:
        reached.wait()
        assert first.stage == stage
        assert not first.wait(0.0)
        assert not first.is_ready
        go_on.wait()
    assert first.wait(PATIENCE)
    model = first.take()
    assert first.is_ready
    del model  # dropped from the cache: the next visitor has to wait again
    assert not first.is_ready


def test_a_question_is_answered_once_until_others_were_asked_or_it_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return {"a": "A", "b": "B", "c": "C"}[question]

    with pytest.raises(KeyError):
        remembered("key", "?", lambda: answer("?"), 2)
    assert [remembered("key", each, partial(answer, each), 2) for each in "abacb"] == [*"ABACB"]
    assert asked == [*"?abcb"]


def test_a_class_finds_its_own_sentences_again_and_a_visitor_the_two_largest_texts() -> None:
    sentences = [f"The owl number {number} hunts at night." for number in range(40)]
    first, again = ([cache.trace(TEXT, each, None) for each in sentences] for _ in range(2))
    assert first == again
    for size, count in ((1, cache.MAX_TRACES), (10**12, 2)):
        cache.traces.update(dict.fromkeys(range(100), Mock(nbytes=size)))
        assert len(cache.traces) == count
    cache.traces.clear()


def keep(names: str, size: int = 0, source: Any = None) -> None:
    for name in names:
        keep_atlas(("", name), AtlasEntry(source, size=size))


def kept() -> str:
    return "".join(name for _, name in atlas_entries())


def test_the_least_recently_used_goes_first_and_older_ones_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than all of them is refused."""
    st.cache_resource.clear()
    keep("abc")
    assert find_atlas(("", "a")) is not None
    keep("d")
    assert kept() == "cad"
    keep("efg", size=10)
    monkeypatch.setattr(entry, "available_bytes", lambda: 30 - 10 * len(kept()))
    assert entry.too_large(16) == entry.take_memory(16) == ""
    assert kept() == "g"
    assert "are free" in entry.take_memory(25)
    assert kept() == "g"
