"""UMAP and t-SNE that fail: what pages say, and that one can try again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.projections.umap_process import ProjectionError
from core.screens.atlas import layouts
from core.screens.atlas.corpus.entry import atlas_entries
from tests.opening import open_app
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.slow

WHY = "UMAP refused these points."
SMALL = {"corpus": "sample", "budget": "1000", "projection": "UMAP"} | {
    "model": "bundled/gpt2-novels"
}
HEADS = 16


class Umap:
    """In UMAP's place: the first components, or an error from a call on."""

    def __init__(self) -> None:
        self.calls, self.fails_from = 0, 0.0

    def fit(self, rows: NDArray[np.float64], dimensions: int, *_: object) -> NDArray[np.float64]:
        self.calls += 1
        if self.calls > self.fails_from:
            raise ProjectionError(WHY)
        return rows[:, :dimensions]


@pytest.fixture
def umap(monkeypatch: pytest.MonkeyPatch) -> Umap:
    """Nothing is laid out yet, and all that is asked fails until a test says otherwise."""
    for entry in atlas_entries().values():
        entry.layouts.clear()
        entry.jobs.clear()
    made = Umap()
    monkeypatch.setattr("core.analysis.projections.joint_embedding.fit_umap", made.fit)
    return made


def until(app: AppTest, holds: Callable[[AppTest], bool], seconds: float = 60) -> AppTest:
    """Run again, as the page does by itself, until it says so."""
    deadline = time.monotonic() + seconds
    while not holds(app):
        assert time.monotonic() < deadline, alerts(app)
        time.sleep(0.1)
        app.run()
        assert not app.exception
    return app


def failed(app: AppTest) -> bool:
    return WHY in alerts(app)


def again(app: AppTest) -> AppTest:
    (button,) = [button for button in app.button if button.label == "Try again"]
    return button.click().run()


def can_try_again(app: AppTest) -> bool:
    return "Try again" in [button.label for button in app.button]


def test_all_heads_that_stopped_on_an_error_go_on_where_they_were(umap: Umap) -> None:
    umap.fails_from = 10
    app = until(open_app("atlas", **SMALL), failed)
    assert not any("being laid out" in box.value for box in app.info)
    assert umap.calls == 11
    app.run()
    assert umap.calls == 11  # nobody asked for more
    umap.fails_from = np.inf
    again(app)
    until(app, lambda app: umap.calls == HEADS + 1 and not can_try_again(app))
    assert alerts(app) == ""


def test_coming_back_after_an_error_starts_again(
    umap: Umap, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = until(open_app("atlas", **SMALL), failed)
    umap.fails_from = np.inf
    monkeypatch.setattr(layouts, "_FORGOTTEN_SECONDS", 0)
    app.run()
    monkeypatch.setattr(layouts, "_FORGOTTEN_SECONDS", 20)
    until(app, lambda app: umap.calls == HEADS + 1 and not can_try_again(app))


def test_a_head_alone_can_be_tried_again(umap: Umap) -> None:
    app = open_app("atlas", **SMALL, part="one")
    assert failed(app)
    umap.fails_from = np.inf
    again(app)
    assert not failed(app)
    assert any("this atlas, UMAP" in caption.value for caption in app.caption)
    assert not can_try_again(app)


def test_the_query_key_page_can_try_again(umap: Umap) -> None:
    app = open_app("query_key", projection="UMAP", text="one two three")
    assert failed(app)
    umap.fails_from = np.inf
    again(app)
    assert not failed(app)
    assert not can_try_again(app)


@pytest.mark.usefixtures("umap")
def test_an_error_that_nobody_foresaw_ends_the_work_and_shows_no_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("/srv/secret")

    monkeypatch.setattr(layouts, "lay_out_head", fail)
    app = open_app("atlas", **SMALL, layer="4", head="1")
    app = until(app, lambda app: "failed" in alerts(app))
    assert "UMAP of L4 H1 failed." in alerts(app)
    assert "secret" not in alerts(app)


def test_t_sne_that_fails_says_so_without_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("/srv/secret")

    monkeypatch.setattr("core.analysis.projections.joint_embedding._fit_tsne", fail)
    app = open_app("query_key", projection="t-SNE", text="one two three")
    assert "t-SNE refused these points." in alerts(app)
    assert "secret" not in alerts(app)
