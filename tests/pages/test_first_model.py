"""The first pages of a cold server: drawn from the trace that comes with the app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock
from urllib.parse import parse_qsl

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.model import load
from core.model.errors import OutOfMemoryError
from core.screens.atlas.corpus.entry import atlas_entries
from core.screens.heads import effects as measuring
from core.ui import cache
from core.ui.cache import first_model
from core.ui.serve.long_work import FirstLoad
from core.ui.words.pages import PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, payload, said, sent

FROM_A_TRACE = [page.name for page in PAGES if not page.needs_model and page.name != "lessons"]
SHIPPED, CHECKED = "came with the app", "**Numbers checked**"
STEPS = 4  # of the 65,535 across a tile of 70 pixels


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that has loaded nothing."""
    for cached in (cache.loaded_model, cache.traces, atlas_entries):
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
    monkeypatch.setattr(first_model, "finish_page", lambda: None)


def content(app: AppTest) -> list[bytes]:
    """What charts and components draw."""
    drawn = [each for kind in ("plotly_chart", "bidi_component") for each in app.get(kind)]
    return [each.proto.SerializeToString(deterministic=True) for each in drawn]


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("page", [*FROM_A_TRACE, "atlas"])
def test_a_page_of_a_trace_is_drawn_before_the_model_comes(page: str, loads: list[str]) -> None:
    app = open_app(page)
    assert loads == []
    assert content(app)
    assert not app.error
    if page == "atlas":
        assert "This picture came with the app" in said(app)
        assert len(sent(app, "points")["places"])
    else:
        assert SHIPPED in model_facts(app)
        assert CHECKED not in model_facts(app)


def test_effects_of_the_first_text_are_drawn_before_the_model_is_loaded(
    loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(first_model, "wait", lambda *_: st.stop())
        app = open_app("effect")
    assert loads == []
    claims = [line for line in said(app).splitlines() if "on this text" in line]
    assert "random directions" in claims[0]
    assert len(app.get("plotly_chart")) == 1
    run = Mock(wraps=measuring._run)
    monkeypatch.setattr(measuring, "_run", run)
    measuring._place.clear()
    app = open_app("effect")
    assert loads == ["bundled/minilm"]
    measured = {len(each.kwargs["heads"]) for each in run.call_args_list}
    assert measured <= {1}  # of the chosen head's card
    assert claims == [line for line in said(app).splitlines() if "on this text" in line]
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.nightly  # ten seconds to make
@pytest.mark.parametrize("link", [{}, {"text": "It rains."}, {"layer": "99"}])
def test_the_first_atlas_is_drawn_until_the_real_one_is_made_and_looks_the_same(
    link: dict[str, str], loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a text that the visitor brings, once the model is here that suggests a head."""
    if "text" in link:
        open_app("vectors")  # which loads it
    before = list(loads)
    with monkeypatch.context() as patch:
        patch.setattr(first_model, "finish_page", lambda: None)
        first = open_app("atlas", **link)
    assert loads == before
    assert "This picture came with the app" in said(first)
    live = open_app("atlas", **link)
    assert alerts(first) == alerts(live)
    assert ("`99`" in alerts(live)) == ("layer" in link)
    assert loads == ["bundled/minilm"]
    assert CHECKED in model_facts(live)
    assert "Atlas of `bundled/minilm`" in said(live)
    of_model = ("This picture", "Atlas of", "What you see", "**MiniLM", "M parameters", CHECKED)
    words, same = (
        {line for line in said(app).split("\n") if not any(each in line for each in of_model)}
        for app in (first, live)
    )
    assert words == same
    tried, offered = ([(each.label, each.help) for each in app.button] for app in (first, live))
    assert tried == offered
    shown, drawn = (sent(app, "points") for app in (first, live))
    places, expected = (np.asarray(each.pop("places"), np.float64) for each in (shown, drawn))
    np.testing.assert_allclose(places, expected, rtol=0, atol=STEPS)
    np.testing.assert_equal(shown, drawn)


OTHERS = (
    "effect?replace=zero effect?part=away effect?text=It+rains. effect?input=image"
    " atlas?part=one atlas?find=she atlas?projection=UMAP atlas?stage=normalized"
    " atlas?colour=norm atlas?budget=1000 atlas?text=It+rains. atlas?model=bundled/gpt2-novels"
    " atlas?corpus=lines atlas?input=image"
)


@pytest.mark.parametrize("address", OTHERS.split())
def test_no_other_picture_is_shipped(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page, _, link = address.partition("?")
    with monkeypatch.context() as patch:
        patch.setattr(first_model, "wait", lambda *_: st.stop())
        patch.setattr("core.ui.cache.model", lambda *_: st.stop())
        patch.setattr(first_model, "finish_page", lambda: None)
        app = open_app(page, **dict(parse_qsl(link)))
    assert not app.get("plotly_chart")
    assert not any("points" in each.proto.component_name for each in app.get("bidi_component"))
    assert page == "effect" or "came with the app" not in said(app) + model_facts(app)


def test_the_picture_stays_once_loaded(loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(first_model, "finish_page", lambda: None)
        first = payload(open_app("home"), "arcs")
    app = open_app("home")
    assert loads == ["bundled/minilm"]
    assert CHECKED in model_facts(app)
    assert SHIPPED not in model_facts(app)
    assert payload(app, "arcs") == first
    again = open_app("home")  # by a visitor who comes later
    assert payload(again, "arcs") == first
    assert loads == ["bundled/minilm"]


def test_a_model_that_cannot_be_loaded_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, **_: Any) -> object:
        raise OutOfMemoryError("There is not enough memory to load {name}.", "Close it.", name)

    with monkeypatch.context() as patch:
        patch.setattr("core.model.load", fail)
        app = open_app("home")
        assert "There is not enough memory to load" in alerts(app)
    app.button(key="model_way_out").click().run()  # Try again
    assert not app.error
    assert CHECKED in model_facts(app)
