"""The records of the pages say what is there, and nothing else."""

from __future__ import annotations

from itertools import groupby

import pytest

from core.ui.words.pages import JOINED, PAGES, SECTIONS, TEXT_PAGES, Page, find
from tests.opening import ROOT


def test_every_page_has_a_script_a_folder_and_a_record() -> None:
    names = sorted(page.name for page in PAGES)
    assert sorted([*names, *JOINED]) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    folders = [path.parent.name for path in ROOT.glob("core/screens/*/__init__.py")]
    assert names == sorted(folders)
    assert all((ROOT / page.path).exists() for page in PAGES)


def test_the_menu_begins_with_home_and_keeps_the_pages_of_a_section_together() -> None:
    assert PAGES[0].in_menu == "Home"
    assert len({page.order for page in PAGES}) == len(PAGES)
    assert [section for section, _ in groupby(PAGES, lambda page: page.section)] == list(SECTIONS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_for_texts_or_images_alone_names_one_that_shows_the_other(page: Page) -> None:
    assert bool(page.instead) == (len(page.modalities) == 1)
    if page.instead:
        assert set(find(page.instead).modalities) - set(page.modalities)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_part_for_all_that_it_shows(page: Page) -> None:
    for modality in page.modalities if page.parts else ():
        assert page.parts_of(modality)
    assert not page.parts or page.visits == ({},)  # its parts have their own


def test_a_part_for_images_alone_is_not_offered_for_a_text() -> None:
    parts = find("anomalies").parts_of
    assert parts("image").keys() - parts("text").keys() == {"odd"}


def test_pages_for_texts_leave_out_those_for_images_alone() -> None:
    assert {page.name for page in PAGES} - {page.name for page in TEXT_PAGES} == {
        page.name for page in PAGES if page.section == "One image"
    }
