"""Every step of every lesson: its questions have answers, and its words say them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit as st

from core.model.trace import Trace
from core.ui.cache import TraceKey, trace
from core.ui.lessons import record, running, saying
from core.ui.lessons.answers import MEASURES, MISTAKES, PLACES, PREDICATES, NotInTextError, Place
from core.ui.words.glossary import REFERENCES
from core.ui.words.prose import environment

NOWHERE = Place(None, None)
OTHER = "The brown capybara is sleeping now."
STEPS = [(lesson, n + 1) for lesson in record.lessons() for n in range(len(lesson.steps))]
every_step = pytest.mark.parametrize(
    ("lesson", "number"), STEPS, ids=[f"{lesson.name}-{number}" for lesson, number in STEPS]
)
FIRST = """
order = 10
title = "A new one"
minutes = 1
model = "bundled/minilm"
text = "The cat slept because it was tired."
references = []
[[steps]]
page = "heatmap"
link = { layer = "4", head = "2" }
ask = { kind = "token", measure = "strongest_key", with = { query = "it" } }
"""
WORDS = """
{% block tell_1 %}One *head*: {{ name }}.{% endblock %}
{% block ask_1 %}Where does {{ query_token }} look?{% endblock %}
{% block answer_1 %}At {{ token }}, with {{ weight|percent }}.{% endblock %}
"""


def trace_of(lesson: record.Lesson, step: record.Step, text: str = "") -> Trace:
    model, image = step.model or lesson.model, step.image or lesson.image or None
    typed = "" if image else text or step.text or lesson.text
    return trace(*TraceKey(model, typed, step.pair or None, image=image))


def blocks_of(lesson: record.Lesson) -> set[str]:
    text = lesson.words.path.read_text("utf-8")
    return set(environment().from_string(text).blocks)


@every_step
@pytest.mark.slow
def test_a_question_has_a_right_answer_and_wrong_ones_with_words_for_each(
    lesson: record.Lesson, number: int
) -> None:
    step = lesson.steps[number - 1]
    strip = saying.strip(lesson.name, number, trace_of(lesson, step), NOWHERE)
    assert "restart" not in strip, "the step is not about its own text"
    assert strip["tell"]
    if step.ask is None:
        return
    assert strip.get("ask"), "the model lacks what the question is about"
    assert strip["answer"]
    right = strip["right"]
    assert len(right) == len(set(right))
    if step.ask.kind == "head":
        assert 0 < len(right) < len(strip["layers"]) * strip["heads"]
    else:
        assert len(right) == 1
    offered = {"token": strip.get("tokens"), "choice": strip.get("choices")}.get(step.ask.kind)
    if offered is not None:
        assert int(right[0]) < len(offered)
        assert {int(guess) for guess in strip["wrong"]} <= set(range(len(offered)))
    if step.ask.kind == "choice":
        assert len(strip["wrong"]) == len(step.ask.choices) - 1
    if step.ask.kind == "token":
        assert int(right[0]) != strip.get("query")
    if step.ask.kind == "number":
        assert 0 <= strip["tolerance"] <= max(abs(float(right[0])), 2)
    assert not set(right) & set(strip["wrong"])
    assert all(strip["wrong"].values())
    assert all(any(strip["wrong"]) for _ in step.ask.wrong), "no likely mistake is possible"
    if step.own:
        own = PREDICATES[step.own](trace_of(lesson, step))
        assert own is not None, "the lesson's own sentence has what it asks of another"


@every_step
def test_a_step_says_something_true_of_any_text(lesson: record.Lesson, number: int) -> None:
    """A text that lacks the word, or the phenomenon, is told so."""
    step = lesson.steps[number - 1]
    if step.image or lesson.image:
        pytest.skip("it is about an image")
    strip = saying.strip(lesson.name, number, trace_of(lesson, step, OTHER), NOWHERE, OTHER)
    assert strip["tell"]
    assert strip.get("restart") or strip.get("lacks") or strip.get("ask") or not step.ask
    assert not step.own or strip["own"]["text"] == OTHER  # what is asked of it stays


@pytest.mark.parametrize("lesson", record.lessons(), ids=lambda lesson: lesson.name)
def test_a_lesson_has_the_words_it_needs_and_no_other(lesson: record.Lesson) -> None:
    assert 4 <= len(lesson.steps) <= 7
    assert set(lesson.references) <= REFERENCES.keys()
    needed, possible = {"can", "aims", "mistakes"}, set[str]()
    for n, step in enumerate(lesson.steps, start=1):
        needed.add(f"tell_{n}")
        needed |= {f"own_{n}"} if step.own else set()
        if step.ask is None:
            continue
        assert callable(MEASURES[step.ask.measure])
        assert all(callable(MISTAKES[name]) for name in step.ask.wrong)
        needed |= {f"ask_{n}", f"answer_{n}", *(f"wrong_{n}_{name}" for name in step.ask.wrong)}
        possible |= {f"hint_{n}", f"lacks_{n}"}
        possible |= {f"wrong_{n}_{index + 1}" for index in range(len(step.ask.choices))}
    assert all(callable(PLACES[step.find]) for step in lesson.steps if step.find)
    assert needed <= blocks_of(lesson) <= needed | possible


def test_a_new_lesson_is_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new.toml").write_text(FIRST)
    (tmp_path / "new.md").write_text(WORDS)
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    (lesson,) = record.lessons()
    strip = saying.strip(lesson.name, 1, trace_of(lesson, lesson.steps[0]), NOWHERE)
    assert strip["tell"] == [["One ", ""], ["head", "em"], [": L4 H2.", ""]]
    assert strip["ask"][1] == ["it", "code"]
    assert [strip["tokens"][int(key)] for key in strip["right"]] == ["cat"]
    assert strip["answer"][1] == ["cat", "code"]
    assert strip["row"][2] == pytest.approx(0.494, abs=5e-4)
    other = trace_of(lesson, lesson.steps[0], OTHER)
    with pytest.raises(NotInTextError, match="it"):
        saying.answer_of(lesson.steps[0], lesson.steps[0].ask, other, NOWHERE)  # type: ignore[arg-type]
    missing = saying.strip(lesson.name, 1, other, NOWHERE)
    assert "ask" not in missing
    assert ["it", "code"] in missing["tell"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('page = "nowhere"', "new.toml, step 1: there is no page 'nowhere'"),
        ('page = "home"\nveil = true', "new.toml, step 1: .*'veil'"),
        ('page = "home"\nveiled = true', "new.toml, step 1: a step without a question"),
        ('page = "home"\nask = { kind = "word", measure = "" }', "step 1, ask: kind is 'word'"),
        ('page = "home"\nask = { kind = "choice", measure = "" }', "two to four choices"),
    ],
)
def test_a_record_that_is_none_is_told_where(
    line: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = FIRST[: FIRST.index("page")]
    (tmp_path / "new.toml").write_text(start + line)
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=problem):
        record.read_lesson("new")


def test_tolerances_and_marked_words() -> None:
    ask = record.Ask(kind="number", measure="", tolerance="25%")
    assert ask.tolerance_at(-8.0) == 2.0
    marked = "a `` ` `` **b** *c* 2 * 3 * 4 `*d*`"
    parts = [part for part in saying.parts(marked) if part[1]]
    assert parts[:3] == [["`", "code"], ["b", "strong"], ["c", "em"]]
    assert parts[-1] == ["*d*", "code"]
    assert re.sub("[*`]", "", "".join(text for text, _ in saying.parts("1 < 2"))) == "1 < 2"


def test_a_model_that_the_visitor_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    state = {"lesson": "rows", "step": 2, "model": "bundled/gpt2-novels"}
    monkeypatch.setattr(st, "session_state", state)
    rows = record.read_lesson("rows")
    assert running._own_model(rows) == "bundled/gpt2-novels"
    assert running._own_model(record.read_lesson("cell")) == ""  # which begins with its own
    state["input"] = "image"
    assert running._own_model(rows) == ""  # of an image that was looked at between
    state |= {"model": rows.model, "input": "text"}
    assert running._own_model(rows) == ""
