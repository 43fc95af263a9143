"""The pages: one record each, ``core/screens/<page>/page.toml`` or ``heads/<page>.page.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import streamlit as st

from core.ui.words.prose import Prose
from core.vocabulary import Modality

_SCREENS = Path(__file__).parents[2] / "screens"
OPENED = "_opened_page"  # in the session: the name of the page of this run
GO_TO = "_page_to_open"  # in the session: of the page of the next run
_GONE = {"another size of the image": ["side"]}  # from all pages
LinkParameters = Mapping[str, str]  # parameters of an address


@dataclass(frozen=True)
class Part:
    """One part of a page.

    Attributes
    ----------
    title : what people pick.
    modalities : what it can show the attention of, of what the page can.
    visits : links that together show every control of the part; for tests and the table of links.
    """

    title: str
    modalities: tuple[Modality, ...] = ("text", "image")
    visits: tuple[LinkParameters, ...] = ({},)


@dataclass(frozen=True)
class Page:
    """One page: its file ``pages/<name>.py``, whose name is its address, and its record.

    Attributes
    ----------
    python : lines that go on from a `trace`, with fields `text`, `layer`, `head`.
    order : of the menu, over all sections; with gaps, so that a page fits between two.
    section : where it stands in the menu.
    question : what it answers (Markdown).
    terms, references : words that it explains, and what it follows, by their names in
        ``glossary.toml`` and ``references.toml``; `image_terms` come first where an image is shown.
    menu_title : what the menu calls it, if not by its title.
    of_image : the question where an image is shown, if it is another one.
    modalities : what it can show the attention of; it opens with the first.
    instead : of a page for one of the two, the page that comes nearest for the other.
    searches : whether its first row is a search, and not a text or an image.
    head_link : how other pages call what this one tells of a head, with a field `head`; empty where
        it tells no more than they do. It `reports_on` what is shown.
    head_report : the controls that show it.
    pair_link, pair_report : the same of the pair of tokens that is held in a head.
    needs_model : whether a trace is too little to draw it.
    shows_cross : whether it can show cross attention, whose keys are other tokens than its queries.
    part_key : the control that chooses a part.
    parts : by their names in links, or their titles alone; a page may have none.
    examples : settings worth seeing, each with a `title`, a `sentence` and the `state` of controls.
        What some `find` (:mod:`core.ui.examples`) sets layer and head; others are for some `kinds`
        of input alone, or where the control that they `need` offers what they set.
    reset_except : the controls that its examples leave as they are, while they reset all others;
        None where an example sets only what it names.
    visits : as of a part, for a page without parts.
    quick : parameters with which the page is quick to open; for tests.
    joined : pages that have become a part of this one, by their names: the `link` parameters that
        their links stand for, where these do not have them, and new names of `parts`.
    gone : what links asked for that the page no longer has, in words, and what stood in them: a
        parameter, or a regular expression of ``parameter=value``.
    """

    name: str
    order: int
    title: str
    question: str
    references: tuple[str, ...]
    terms: tuple[str, ...]
    python: str
    image_terms: tuple[str, ...] = ()
    section: str = ""
    menu_title: str = ""
    of_image: str = ""
    modalities: tuple[Modality, ...] = ("text", "image")
    instead: str = ""
    searches: bool = False
    head_link: str = ""
    head_report: Mapping[str, str | bool] = field(default_factory=dict)
    pair_link: str = ""
    pair_report: Mapping[str, str | bool] = field(default_factory=dict)
    reports_on: tuple[Modality, ...] = ()
    needs_model: bool = False
    shows_cross: bool = False
    part_key: str = "part"
    parts: Mapping[str, Part] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()
    reset_except: tuple[str, ...] | None = None
    visits: tuple[LinkParameters, ...] = ({},)
    quick: LinkParameters = field(default_factory=dict)
    joined: Mapping[str, Mapping[str, LinkParameters]] = field(default_factory=dict)
    gone: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The file, relative to app.py."""
        return f"pages/{self.name}.py"

    @property
    def words(self) -> Prose:
        """What it says: the blocks of ``words.md`` beside its record."""
        return Prose(str(_SCREENS / self.name / "page.toml"))

    @property
    def in_menu(self) -> str:
        """What the menu calls it."""
        return self.menu_title or self.title

    def parts_of(self, modality: str) -> dict[str, str]:
        """The titles of the parts that show texts, or images, by their names in links."""
        shown = ((name, part) for name, part in self.parts.items() if modality in part.modalities)
        return {name: part.title for name, part in shown}


def _read(path: Path) -> Page:
    record = _with_tuples(tomllib.loads(path.read_text("utf-8")))
    parts = {
        name: Part(part) if isinstance(part, str) else Part(**_with_tuples(part))
        for name, part in record.pop("parts", {}).items()
    }
    gone = record.pop("gone", {}) | _GONE
    name = path.parent.name if path.name == "page.toml" else path.name.split(".")[0]
    return Page(name, parts=parts, gone=gone, **record)


def _with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


PAGES = tuple(sorted(map(_read, _SCREENS.glob("*/*page.toml")), key=attrgetter("order")))
SECTIONS = {
    title: tuple(page for page in PAGES if page.section == title)
    for title in dict.fromkeys(page.section for page in PAGES)
}
TEXT_PAGES = tuple(page for page in PAGES if "text" in page.modalities)
JOINED = {name: page for page in PAGES for name in page.joined}  # the page by its old address
_BY_NAME = {page.name: page for page in PAGES}


def find_page(name: str) -> Page:
    """The page of that name. Raises KeyError for a name that is not registered."""
    return _BY_NAME[name]


def opened() -> Page:
    """The page of this run."""
    return find_page(st.session_state[OPENED])


def note_opened(page: Page) -> None:
    """From now on the run is this page's."""
    st.session_state[OPENED] = page.name


def go_to(name: str) -> None:
    """Open that page before the next run draws anything; for callbacks, which cannot switch."""
    st.session_state[GO_TO] = name
