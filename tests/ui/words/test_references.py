"""Every page names what it follows, and what a page quotes is in its list."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1.element_tree import Block

from core.ui.words.glossary import TERMS
from core.ui.words.pages import PAGES, find
from core.ui.words.references import SOURCES
from tests.opening import ROOT, open_app

SCREENS = ROOT / "core" / "screens"
QUOTED = re.compile(r"\b([A-Z][a-z]+)(?: et al\.| and [A-Z][a-z]+)?,? \(?((?:19|20)\d\d)\)?")
WHERE = re.compile(
    r"^(doi:10\.\d{4,9}/\S+|arXiv:\d{4}\.\d{5}|ISBN 978[\d-]{10,}|\S+\.html|no address)$"
)


def test_every_page_has_sources_and_every_source_says_where_it_is() -> None:
    assert all(page.references for page in PAGES)
    assert {name for page in PAGES for name in page.references} == set(SOURCES)
    for source in SOURCES.values():
        assert WHERE.match(source.where), source


@pytest.mark.slow
@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_a_page_shows_its_list_and_quotes_nothing_else(page: str) -> None:
    app = open_app(page, budget="1000")
    blocks = [each for each in app.get("popover") if isinstance(each, Block)]
    (box,) = [each for each in blocks if each.proto.popover.label == "References"]
    listed = "\n".join(str(text.value) for text in box.markdown)
    for name in find(page).references:
        assert SOURCES[name].where in listed
    folder = SCREENS / page
    code = "\n".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    for author, year in QUOTED.findall(code):
        assert re.search(rf"{author}.*\({year}\)", listed), (author, year)


def test_every_term_of_a_page_is_explained() -> None:
    shown = {term for page in PAGES for term in page.terms}
    assert all(page.terms for page in PAGES)
    assert shown <= set(TERMS)
