"""Lessons in the app: links open steps, the strip follows the text, other pages and the menu."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.ui.address import to_text
from core.ui.cache import TraceKey, trace
from core.ui.lessons.answers import PLACES
from core.ui.lessons.record import Lesson, lessons, read_lesson
from tests.opening import open_app
from tests.pages.conftest import alerts, payload, said

pytestmark = pytest.mark.slow


def strip(app: AppTest) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(payload(app, "lesson"))
    return parsed


@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_a_link_opens_each_step_at_the_very_picture(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps, start=1):
        app = open_app("home", lesson=lesson.name, step=str(number))
        assert alerts(app) == "", (number, alerts(app))
        state = app.session_state
        assert state["_opened_page"] == step.page
        shown = strip(app)
        assert (shown["step"], shown["restart"]) == (number, False)
        for key, value in step.link.items():
            if "{" not in value:
                assert to_text(state[key]) == value, (number, key)
        image = step.image or lesson.image
        expected = {"image": image} if image else {"text": step.text or lesson.text}
        expected |= {"model": step.model or lesson.model}
        assert {key: state[key] for key in expected} == expected
        assert not any(str(button.key).startswith(f"{step.page}_preset") for button in app.button)


def test_bad_links_are_told_and_the_strip_is_about_the_text_on_screen() -> None:
    app = open_app("heatmap", lesson="nothing", step="2")
    assert "The lessons are: `cell`" in alerts(app)
    assert "lesson" not in app.query_params
    name, last = "rows", len(read_lesson("rows").steps)
    app = open_app("heatmap", lesson=name, step="99")
    assert f"a number from 1 to {last}" in alerts(app)
    whole = {"model": "bundled/minilm", "text": "She read it twice.", "layer": "2", "head": "5"}
    app = open_app("home", lesson=name, step="1", **whole)
    assert {key: app.session_state[key] for key in whole} == whole  # not the lesson's own
    assert strip(app)["step"] == 1
    assert app.query_params["lesson"] in (name, [name])
    app.session_state["text"] = " "
    app.run()
    assert "Type a sentence" in alerts(app)  # the page has ended early
    assert strip(app)["restart"]


def test_a_step_finds_its_place_on_a_text_of_ones_own() -> None:
    app, step = open_app("home", lesson="rows", step="1"), read_lesson("rows").steps[0]
    app.session_state["text"] = text = "The cat slept because it was tired."
    app.run()
    found = PLACES[step.find](trace(*TraceKey("bundled/minilm", text)))
    assert found is not None
    place = {key: app.session_state[key] for key in ("layer", "head")}
    assert place == {key: str(found[key]) for key in place} != {"layer": "4", "head": "2"}


def test_the_menu_goes_on_with_a_lesson_and_the_page_of_lessons_ends_it() -> None:
    app = open_app("lessons", lesson="rows", step="2")
    assert app.query_params["step"] == "2"
    app.switch_page("pages/model_view.py").run()
    assert strip(app)["restart"]
    app.switch_page("pages/lessons.py").run()
    assert app.session_state["lesson"] == ""
    assert "lesson" not in app.query_params
    assert f"**1 · {lessons()[0].title}**" in said(app)
