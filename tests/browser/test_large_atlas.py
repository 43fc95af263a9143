"""A large atlas in Chromium: exact counts under the pointer, and points as one zooms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.atlas.folders import write_folder
from tests.browser.conftest import Open, box_of, follow, settle
from tests.pages.atlases import small

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

NAME = "novels <b>x $x$ :red[x] مرحبا"
ONE = "&part=one&layer=4&head=2"


@pytest.fixture
def link(prepared: Path) -> str:
    """Of an atlas of four sentences in two parts; two of them are its sample."""
    folder = prepared / f"{NAME}.atlas"
    if not folder.exists():
        write_folder(small(), folder, [(0, 1), (2, 3)], (1, 2))
    return f"/atlas?corpus=prepared&prepared={quote(NAME)}"


def heads(page: Page) -> Locator:
    return page.locator(".st-key-atlas_matrix .root, .st-key-atlas_head_counts .root")


def some_counts(page: Page) -> tuple[int, int]:
    """The first numbers other than 0, of queries and of keys, on a walk over the picture."""
    canvas = heads(page).locator("canvas.over")
    canvas.scroll_into_view_if_needed()
    box = box_of(canvas)
    met = [0, 0]
    for step in range(400):  # along a diagonal, again and again, each time a little lower
        x = box["x"] + box["width"] * (0.3 + 0.4 * (step % 20) / 20)
        y = box["y"] + box["height"] * (0.2 + 0.5 * (step % 20) / 20 + 0.2 * step / 400)
        page.mouse.move(x, y)
        tip = page.locator(".tip:visible")
        if tip.count() and (found := re.findall(r"(\d+) (?:quer|key)", tip.inner_text())):
            met = [before or int(now) for before, now in zip(met, found, strict=True)]
        if all(met):
            break
    return met[0], met[1]


def test_the_pointer_reads_exact_counts_and_a_click_opens_the_head(goto: Open, link: str) -> None:
    page = goto(link)
    settle(page)
    expect(page.get_by_text("counts, not points")).to_be_visible()
    queries, keys = some_counts(page)
    tokens = len(small().tokens)
    assert 0 < queries <= tokens
    assert 0 < keys <= tokens
    box = box_of(heads(page).locator("canvas.over"))
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    follow(page, "part=one")
    expect(page.get_by_text("Drawn: counts")).to_be_visible()


def test_zooming_in_brings_points_and_the_link_opens_the_same_part(goto: Open, link: str) -> None:
    page = goto(link + ONE)
    settle(page)
    expect(page.get_by_text("Drawn: counts")).to_be_visible()
    for _ in range(3):
        page.get_by_role("button", name="Larger").click()
    follow(page, "part_of_head=")
    expect(page.get_by_text("Drawn: points")).to_be_visible()
    expect(page.get_by_text("tokens with a query or a key in the part")).to_be_visible()
    zoom = heads(page).get_attribute("data-zoom") or ""
    assert float(zoom) > 2
    settle(page)
    address = page.url
    other = goto(address[address.index("/atlas") :])
    expect(other.get_by_text("Drawn: points")).to_be_visible()
    expect(heads(other)).to_have_attribute("data-zoom", re.compile(r"^[2-9]"))
    other.get_by_role("button", name="Whole head").click()
    expect(other.get_by_text("Drawn: counts")).to_be_visible()
    other.wait_for_function("() => !location.search.includes('part_of_head')")


def test_keys_zoom_and_move_and_the_file_needs_no_server(
    goto: Open, open_saved: Open, link: str
) -> None:
    page = goto(link + ONE, width=390, height=844, scheme="dark")
    settle(page)
    heads(page).locator("canvas.over").focus()
    for key in ("+", "+", "+", "ArrowLeft"):
        page.keyboard.press(key)
    follow(page, "part_of_head=")
    expect(page.get_by_text("Drawn: points")).to_be_visible()
    saved = open_saved(page)
    expect(saved.locator(".root")).to_have_attribute("data-painted", re.compile(r"\d"))
