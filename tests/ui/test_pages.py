"""The records of the pages say what is there, with its sources and terms, and nothing else."""

from __future__ import annotations

import re

import pytest

from core.ui.lessons.record import lessons
from core.ui.words.glossary import REFERENCES, TERMS
from core.ui.words.pages import JOINED, PAGES, Page, find_page
from tests.opening import ROOT


def test_every_page_has_a_script_a_folder_and_a_record() -> None:
    names = sorted(page.name for page in PAGES)
    assert sorted([*names, *JOINED]) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    folders = {path.parent.name for path in ROOT.glob("core/screens/*/*page.toml")}
    assert folders == {*names, "heads"} - {"patterns", "anomalies", "effect"}
    assert all((ROOT / page.path).exists() for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_part_for_all_that_it_shows_and_names_one_that_shows_the_other(
    page: Page,
) -> None:
    assert bool(page.instead) == (len(page.modalities) == 1)
    if page.instead:
        assert set(find_page(page.instead).modalities) - set(page.modalities)
    if page.parts:
        assert all(map(page.parts_of, page.modalities))
        assert page.visits == ({},)  # its parts have their own


WHERE = re.compile(
    r"^(doi:10\.\d{4,9}/\S+|arXiv:\d{4}\.\d{5}|ISBN 978[\d-]{10,}|\S+\.html|no address)$"
)


def test_every_page_has_terms_that_are_explained_and_sources_that_say_where_they_are() -> None:
    assert all(page.references and page.terms for page in PAGES)
    told = [each.references for each in PAGES] + [each.references for each in lessons()]
    assert {name for names in told for name in names} == set(REFERENCES)
    assert all(WHERE.match(source.where) for source in REFERENCES.values())
    assert {term for page in PAGES for term in page.terms} <= set(TERMS)
