"""What stays in memory of a visitor after a page is drawn."""

from __future__ import annotations

import gc
import sys
from typing import Any
from weakref import ref

import pytest
from streamlit.elements.widgets.button import ButtonMixin

from core.model import Trace
from core.screens.atlas.corpus.entry import atlas_entries
from core.screens.heads.measured import measured_text
from core.screens.query_key.choice import kept_clouds
from core.ui import cache
from tests.opening import open_app
from tests.pages.conftest import ATLASES

pytestmark = pytest.mark.slow


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What makes the files of all download buttons, kept as a server keeps it for a session."""
    kept: list[object] = []
    draw = ButtonMixin._download_button

    def draw_and_keep(self: ButtonMixin, label: str, data: Any, *others: Any, **more: Any) -> bool:
        kept.append(data)
        return draw(self, label, data, *others, **more)

    monkeypatch.setattr(ButtonMixin, "_download_button", draw_and_keep)
    return kept


# The head view's file and the anomaly report show heads that are not on the screen: they need it.
@pytest.mark.parametrize(
    "page",
    ["heatmap", "vectors", "query_key", "model_view", "patterns"],
)
def test_a_page_keeps_no_trace_for_its_downloads(downloads: list[object], page: str) -> None:
    open_app(page, text="a raven flew over the old house")
    assert all(callable(make) for make in downloads)
    cache.forward_pass.clear()
    for cached in (kept_clouds, measured_text):
        cached.clear()
    gc.collect()
    kept = [
        thing
        for thing in gc.get_objects()
        if type(thing) is Trace and "raven" in {token.display for token in thing.tokens}
    ]
    assert [sys.getrefcount(trace) for trace in kept] == []


@pytest.mark.parametrize(("part", "files"), [("heads", 1), ("one", 2)])
def test_the_atlas_page_keeps_no_atlas_for_its_downloads(
    downloads: list[object], part: str, files: int
) -> None:
    """Else what the bound on all atlases lets go would stay as long as a visitor's buttons."""
    atlas_entries.clear()  # of other tests
    ATLASES.clear()
    app = open_app("atlas", model="bundled/gpt2-novels", budget="1000", part=part)
    (entry,) = atlas_entries().values()
    made = ref(entry.atlas)
    assert len(downloads) == files
    assert made() is not None
    atlas_entries.clear()
    ATLASES.clear()
    del entry, app
    gc.collect()
    assert made() is None
