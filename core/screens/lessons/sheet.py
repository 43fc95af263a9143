"""The teacher's sheet of a lesson: a page to print, with answers measured on the lesson's model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from core.analysis.strongest_link import find_link
from core.ui import cache
from core.ui.address.share import svg_code
from core.ui.lessons.answers import Place
from core.ui.lessons.record import Lesson, Step, read_lesson
from core.ui.lessons.saying import Parts, parts, strip
from core.ui.words.glossary import REFERENCES
from core.ui.words.prose import fill_page

if TYPE_CHECKING:
    from core.model.trace import Trace

_PAGE = Path(__file__).with_name("sheet.html")


def sheet_of(name: str, link: str) -> str:
    """The sheet as HTML. `link` is the address of the page of all lessons, as phones reach it."""
    lesson = read_lesson(name)
    return fill_page(
        _PAGE,
        lesson=lesson,
        can=lesson.words("can"),
        models=list(dict.fromkeys(each.model or lesson.model for each in lesson.steps)),
        aims=_points(lesson, "aims"),
        mistakes=_points(lesson, "mistakes"),
        steps=[_step(lesson, number, link) for number in range(1, len(lesson.steps) + 1)],
        sources=[REFERENCES[each] for each in lesson.references],
    )


def _points(lesson: Lesson, block: str) -> list[str]:
    return [_text(parts(each.strip())) for each in lesson.words(block).split("- ") if each.strip()]


def _step(lesson: Lesson, number: int, link: str) -> dict[str, Any]:
    address = f"{link}?{urlencode({'lesson': lesson.name, 'step': number})}"
    lines = list(_lines(strip(lesson.name, number, *_screen(lesson, lesson.steps[number - 1]))))
    return {"link": address, "code": svg_code(address), "lines": lines}


def _screen(lesson: Lesson, step: Step) -> tuple[Trace, Place]:
    """The trace of a step, and the layer and head that its page begins with."""
    text, image = step.text or lesson.text, step.image or lesson.image
    key = cache.TraceKey(step.model or lesson.model, text, step.pair or None, image=image or None)
    trace = cache.trace(*key)
    link = None if image else find_link(trace)
    return trace, Place(None, None) if link is None else Place(link.layer, link.head)


def _lines(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the strip says, each with its heading; the text before the question has none."""
    yield "", _text(said["tell"])
    for block, heading in (
        ("lacks", ""),
        ("ask", "Question"),
        ("answer", "Answer"),
        ("hint", "Hint"),
    ):
        if block in said:
            yield heading, _text(said[block])
    if "choices" in said:
        marks = ["✓ " if str(i) in said["right"] else "" for i in range(len(said["choices"]))]
        yield "Choices", " · ".join(map("".join, zip(marks, said["choices"], strict=True)))
    if "own" in said:
        yield "Own sentence", _text(said["own"]["ask"])


def _text(parts: Parts) -> str:
    return "".join(f"“{text}”" if kind == "code" else text for text, kind in parts)
