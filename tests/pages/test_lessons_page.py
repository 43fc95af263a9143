"""The page of all lessons: its cards, the beginning of each, and the sheets for the teacher."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from core.screens.lessons.sheet import sheet_of
from core.ui.lessons.record import lessons, read_lesson
from tests.opening import open_app
from tests.pages.conftest import alerts, said


def test_a_card_says_what_a_lesson_is_and_begins_it(files: dict[str, Callable[[], str]]) -> None:
    app = open_app("lessons")
    words = said(app)
    for number, lesson in enumerate(lessons(), start=1):
        assert f"**{number} · {lesson.title}** :gray[{lesson.minutes} min]" in words
        assert f"lesson-{number}-{lesson.name}.html" in files
    last = lessons()[-1]
    app.button(key=f"begin_{last.name}").click().run()
    assert alerts(app) == ""
    assert app.session_state["_opened_page"] == last.steps[0].page
    assert (app.query_params["lesson"], app.query_params["step"]) == (last.name, "1")


@pytest.mark.slow
@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize("name", ["sinks", "images"])  # of a text, and of an image
def test_a_sheet_has_an_answer_for_each_question_and_a_code_for_each_step(name: str) -> None:
    lesson, page = read_lesson(name), sheet_of(name, "http://teacher:8501/lessons")
    links = re.findall(r"http://teacher:8501/lessons\?lesson=(\w+)&amp;step=(\d+)", page)
    assert links == [(name, str(1 + place)) for place in range(len(lesson.steps))]
    assert (page.count("<svg"), page.count("`")) == (len(lesson.steps), 0)  # words are quoted plain
    assert page.count("✓") == sum(
        step.ask is not None and step.ask.kind == "choice" for step in lesson.steps
    )
    asked = [step for step in lesson.steps if step.ask]
    assert page.count("<b>Question:</b>") == page.count("<b>Answer:</b>") == len(asked)
    assert page.count("<li>") > len(lesson.references) + 1
