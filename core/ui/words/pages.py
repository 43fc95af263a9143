"""The pages, one record each: ``core/screens/<page>/page.toml`` or ``heads/<page>.page.toml``."""

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
GO_TO = "_page_to_open"  # in the session: the name of the page of the next run
_GONE = {"another size of the image": ["side"]}  # gone from all pages
LinkParameters = Mapping[str, str]  # of an address


@dataclass(frozen=True)
class Part:
    """One part of a page.

    Attributes
    ----------
    title : its name in the menu.
    modalities : those of the page's modalities that it can show.
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
    python : lines of code that continue from a `trace`, with fields `text`, `layer`, `head`.
    order : in the menu, over all sections; with gaps, so that new pages fit in between.
    section : the section of the menu.
    question : the question that it answers (Markdown).
    terms, references : terms that it explains, and its sources, by their names in
        ``glossary.toml`` and ``references.toml``; for an image `image_terms` come first.
    menu_title : its name in the menu, if not the title.
    of_image : the question for an image, if it differs.
    modalities : what it can show the attention of; it opens with the first.
    instead : for a page with one modality, the nearest page for the other.
    searches : whether its first row is a search, not a text or an image.
    head_link : the label of other pages' links to what this one says about a head, with a field
        `head`; empty if it says no more than they do. It `reports_on` these modalities.
    head_report : the controls that show it.
    pair_link, pair_report : the same for the pair of tokens that is pinned in a head.
    needs_model : whether drawing it takes the model, not just a trace.
    shows_cross : whether it can show cross attention, whose key tokens are not its query tokens.
    part_key : the control that chooses a part.
    parts : keyed by their names in links, or just their titles; a page may have none.
    examples : settings worth seeing, each with a `title`, a `sentence` and the `state` of controls.
        Some have a `find` (see :mod:`core.ui.presets`) that sets layer and head; others apply only
        to some `kinds` of input, or if the control that they `need` offers what they set.
    reset_except : the controls that its examples do not reset, while they reset all others;
        None if an example sets only what it names.
    visits : as for a part, for a page without parts.
    quick : parameters with which the page opens quickly; for tests.
    opens : parameters of a link that has neither a text nor another model to compare with.
    compares : whether it has a button that compares its text with another.
    joined : former pages that are now part of this one, by name: the `link` parameters to add to
        their links, unless these have them, and new names of `parts`.
    gone : what links could ask for that the page no longer has, in words, with its patterns: a
        parameter, or a regular expression for ``parameter=value``.
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
    opens: LinkParameters = field(default_factory=dict)
    compares: bool = False
    joined: Mapping[str, Mapping[str, LinkParameters]] = field(default_factory=dict)
    gone: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the file, relative to app.py."""
        return f"pages/{self.name}.py"

    @property
    def words(self) -> Prose:
        """Its words: the blocks of ``words.md`` beside its record."""
        return Prose(str(_SCREENS / self.name / "page.toml"))

    @property
    def in_menu(self) -> str:
        """Its name in the menu."""
        return self.menu_title or self.title

    def parts_of(self, modality: str) -> dict[str, str]:
        """The titles of the parts that show this modality, by their names in links."""
        fitting = ((name, part) for name, part in self.parts.items() if modality in part.modalities)
        return {name: part.title for name, part in fitting}


def _read(path: Path) -> Page:
    record = with_tuples(tomllib.loads(path.read_text("utf-8")))
    parts = {
        name: Part(part) if isinstance(part, str) else Part(**with_tuples(part))
        for name, part in record.pop("parts", {}).items()
    }
    gone = record.pop("gone", {}) | _GONE
    name = path.parent.name if path.name == "page.toml" else path.name.split(".")[0]
    return Page(name, parts=parts, gone=gone, **record)


def with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of a TOML file with tuples for lists, as records hold them."""
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
    """The page of this name. Raises KeyError if it is not registered."""
    return _BY_NAME[name]


def opened() -> Page:
    """The page that this run shows."""
    return find_page(st.session_state[OPENED])


def note_opened(page: Page) -> None:
    """Note that this run shows this page."""
    st.session_state[OPENED] = page.name


def go_to(name: str) -> None:
    """Open that page before the next run draws anything; for callbacks, which cannot do so."""
    st.session_state[GO_TO] = name
