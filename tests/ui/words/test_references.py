"""Every page names what it follows, and explains its terms."""

from __future__ import annotations

import re

from core.ui.words.glossary import TERMS
from core.ui.words.pages import PAGES
from core.ui.words.references import SOURCES

WHERE = re.compile(
    r"^(doi:10\.\d{4,9}/\S+|arXiv:\d{4}\.\d{5}|ISBN 978[\d-]{10,}|\S+\.html|no address)$"
)


def test_every_page_has_sources_and_every_source_says_where_it_is() -> None:
    assert all(page.references for page in PAGES)
    assert {name for page in PAGES for name in page.references} == set(SOURCES)
    for source in SOURCES.values():
        assert WHERE.match(source.where), source


def test_every_term_of_a_page_is_explained() -> None:
    shown = {term for page in PAGES for term in page.terms}
    assert all(page.terms for page in PAGES)
    assert shown <= set(TERMS)
