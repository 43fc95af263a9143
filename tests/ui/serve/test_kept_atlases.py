"""The last atlases stay in memory, and the least recently used go first."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from core.screens.atlas.corpus import entry
from core.screens.atlas.corpus.entry import AtlasEntry, atlas_entries, find_atlas, keep_atlas

SOURCE: Any = object()


@pytest.fixture(autouse=True)
def _of_no_other_test() -> None:
    st.cache_resource.clear()


def keep(names: str, size: int = 0) -> None:
    for name in names:
        keep_atlas(("", name), AtlasEntry(SOURCE, size=size))


def kept() -> str:
    return "".join(name for _, name in atlas_entries())


def test_the_least_recently_used_goes_first() -> None:
    assert entry.MAX_ATLASES == 3
    keep("abc")
    assert find_atlas(("", "a")) is not None
    keep("d")
    assert kept() == "cad"
    assert find_atlas(("", "b")) is None


def test_where_memory_is_short_older_ones_go_and_more_than_all_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry, "available_bytes", lambda: 30 - 10 * len(kept()))
    keep("abc", size=10)
    assert entry.too_large(16) == entry.take_memory(16) == ""
    assert kept() == "c"
    assert "are free" in entry.take_memory(25)
    assert kept() == "c"
