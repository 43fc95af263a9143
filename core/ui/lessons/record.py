"""Lessons as data: ``data/<name>.toml``, and its words beside it in ``data/<name>.md``.

The words are blocks of Markdown (:class:`core.ui.words.prose.Prose`). Of Markdown the strip shows
paragraphs, `code`, *emphasis* and **strong emphasis**; `aims` and `mistakes` are lists.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from core.ui.words.pages import PAGES, with_tuples
from core.ui.words.prose import Prose

FOLDER = Path(__file__).with_name("data")
Kind = Literal["token", "head", "number", "choice"]
_Record = TypeVar("_Record")


@dataclass(frozen=True)
class Ask:
    """The question of a step.

    Attributes
    ----------
    kind : what is guessed.
    measure : the name of the function that has the answer, in ``answers.MEASURES``.
    arguments : of the measure, `with` in the record; `layer` and `head`, from 1, are its place.
    tolerance : how far a number may be off, or how many percent of it ("25%").
    unit : of a number.
    choices : two to four, for a choice.
    wrong : for a token or a head, names of likely mistakes, in ``answers.MISTAKES``.
    """

    kind: Kind
    measure: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float | str = 0.0
    unit: str = ""
    choices: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind is {self.kind!r}; the kinds are {', '.join(get_args(Kind))}")
        if (self.kind == "choice") != (2 <= len(self.choices) <= 4):
            raise ValueError("a choice has two to four choices, any other question has none")

    def tolerance_at(self, value: float) -> float:
        """How far a guess may be from this `value`."""
        if isinstance(self.tolerance, str):
            return abs(value) * float(self.tolerance.rstrip("% ")) / 100
        return self.tolerance


@dataclass(frozen=True)
class Step:
    """One step: a page in some state, what is said of it, and perhaps a question.

    Attributes
    ----------
    page : the name of the page.
    link : parameters of the page's link; values may have fields of `find` in braces.
    find : the name of the function that finds the place on this text, in ``answers.PLACES``.
    text, pair, image, model : if not the lesson's.
    veiled : whether the picture is hidden until somebody has guessed.
    own : the name of what a text of one's own must have, in ``answers.PREDICATES``.
    """

    page: str
    link: Mapping[str, str] = field(default_factory=dict)
    find: str = ""
    text: str = ""
    pair: str = ""
    image: str = ""
    model: str = ""
    veiled: bool = False
    ask: Ask | None = None
    own: str = ""

    def __post_init__(self) -> None:
        if self.page not in {page.name for page in PAGES}:
            raise ValueError(f"there is no page {self.page!r}")
        if (self.veiled or self.own) and self.ask is None:
            raise ValueError("a step without a question has neither a veil nor one's own sentence")


@dataclass(frozen=True)
class Lesson:
    """A lesson; its steps count from 1. `references` are names in ``references.toml``."""

    name: str
    order: int
    title: str
    minutes: int
    model: str
    references: tuple[str, ...]
    steps: tuple[Step, ...]
    text: str = ""
    image: str = ""

    @property
    def words(self) -> Prose:
        """Its words: `can`, `aims`, `mistakes`, and for each step `tell_1`, `ask_1` and so on."""
        return Prose(str(FOLDER / "_"), f"{self.name}.md")


def names() -> tuple[str, ...]:
    """The names of all lessons, as links have them."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def lessons() -> list[Lesson]:
    """All lessons in their order."""
    return sorted(map(read_lesson, names()), key=lambda lesson: lesson.order)


def read_lesson(name: str) -> Lesson:
    """The lesson of this name.

    Raises ValueError, with the place in the file, if the record is not one.
    """
    return _read(FOLDER / f"{name}.toml")


@cache
def _read(path: Path) -> Lesson:
    record = tomllib.loads(path.read_text("utf-8"))
    steps = []
    for number, step in enumerate(record.pop("steps", []), start=1):
        where = f"{path.name}, step {number}"
        if ask := step.pop("ask", None):
            ask["arguments"] = ask.pop("with", {})
            step["ask"] = _filled(Ask, ask, f"{where}, ask")
        steps.append(_filled(Step, step, where))
    return _filled(Lesson, record | {"name": path.stem, "steps": steps}, path.name)


def _filled(kind: Callable[..., _Record], table: Mapping[str, Any], where: str) -> _Record:
    try:
        return kind(**with_tuples(table))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error
