"""The first pages of a cold server: drawn from the trace that comes with the app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.model import load
from core.model.errors import OutOfMemoryError
from core.screens.effect import measuring
from core.ui import cache
from core.ui.cache import first_model
from core.ui.cache.first_load import FirstLoad
from core.ui.words.pages import PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, payload, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from core.model import Effects

FROM_A_TRACE = [page.name for page in PAGES if not page.needs_model]
SHIPPED, CHECKED = "came with the app", "**Numbers checked**"


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that has loaded nothing."""
    for cached in (cache.loaded_model, cache.forward_pass, cache.image_pass):
        cached.clear()
    for name in cache.first_loads:
        monkeypatch.setitem(cache.first_loads, name, FirstLoad())
    monkeypatch.setattr(first_model, "DELAY_SECONDS", 0.0)
    yield
    cache.loaded_model.clear()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that were loaded."""
    loaded: list[str] = []

    def note(name: str, **options: Any) -> object:
        loaded.append(name)
        return load(name, **options)

    monkeypatch.setattr("core.model.load", note)
    return loaded


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages as they are until the model has come."""
    monkeypatch.setattr(first_model, "finish", lambda: None)


def content(app: AppTest) -> list[bytes]:
    """What charts and components draw."""
    drawn = [each for kind in ("plotly_chart", "bidi_component") for each in app.get(kind)]
    return [each.proto.SerializeToString(deterministic=True) for each in drawn]


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("page", FROM_A_TRACE)
def test_a_page_that_needs_only_a_trace_is_drawn_before_the_model_is_loaded(
    page: str, loads: list[str]
) -> None:
    app = open_app(page)
    assert loads == []
    assert SHIPPED in model_facts(app)
    assert CHECKED not in model_facts(app)
    assert content(app)
    assert not app.error


def test_effects_of_the_first_text_come_with_the_app(
    loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Any] = []
    run = measuring._run

    def noted(*args: Any, **options: Any) -> Effects:
        runs.append(options)
        return run(*args, **options)

    monkeypatch.setattr(measuring, "_run", noted)
    measuring._place.clear()
    app = open_app("effect")
    assert loads == ["bundled/minilm"]
    assert "99 random directions" in said(app)
    assert {len(each["heads"]) for each in runs} <= {1}  # of the chosen head's card


def test_when_the_model_has_come_its_facts_are_there_and_the_picture_stays(
    loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(first_model, "finish", lambda: None)
        first = payload(open_app("home"), "arcs")
    app = open_app("home")
    assert loads == ["bundled/minilm"]
    assert CHECKED in model_facts(app)
    assert SHIPPED not in model_facts(app)
    assert payload(app, "arcs") == first
    again = open_app("home")  # by a visitor who comes later
    assert payload(again, "arcs") == first
    assert loads == ["bundled/minilm"]


def test_a_model_that_cannot_be_loaded_is_reported_once_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str, **_: Any) -> object:
        raise OutOfMemoryError("There is not enough memory to load {name}.", "Close it.", name)

    with monkeypatch.context() as patch:
        patch.setattr("core.model.load", fail)
        app = open_app("home")
        assert "There is not enough memory to load" in alerts(app)
    app.button(key="model_way_out").click().run()  # Try again
    assert not app.error
    assert CHECKED in model_facts(app)
