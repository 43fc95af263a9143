"""The heatmap table in the browser: links, hover, keys, pictures, files."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, box_of, follow, save_file, settle

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

IT_BOOK = "/heatmap?text=Oh%2C%20this%20book%3F%20I%27ve%20enjoyed%20it.&layer=4&head=2"


def cell(page: Page, row: int, column: int) -> Locator:
    return page.locator(f'[role=gridcell][aria-rowindex="{row}"][aria-colindex="{column}"]')


def expect_table(page: Page, where: str) -> None:
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile(where))


def test_the_address_follows_a_choice_and_back_undoes_it(goto: Open) -> None:
    page = goto(IT_BOOK)
    expect_table(page, "^attention of L4 H2, 13 by 13 tokens$")
    expect(cell(page, 11, 5)).to_have_text("0.932")
    follow(page, "model=bundled.*layer=4&head=2.*view=table.*hide=0")
    page.get_by_label("Layer", exact=True).first.click()
    page.get_by_role("option", name="layer 1", exact=True).click()
    settle(page)
    expect_table(page, "L1 H2")
    follow(page, "layer=1")
    page.get_by_text("Hide special tokens").click()
    settle(page)
    follow(page, "hide=1")
    expect(page.get_by_role("gridcell")).to_have_count(11 * 11)
    page.go_back()
    expect(page.get_by_role("gridcell")).to_have_count(13 * 13)
    page.go_back()
    expect_table(page, "L4 H2")


def test_a_cell_is_read_on_hover_held_by_a_click_and_left_by_keys(goto: Open) -> None:
    page = goto(IT_BOOK)
    sentence = page.locator(".sentence")
    cell(page, 11, 5).hover()
    expect(sentence).to_have_text("it → book  0.932, L4 H2")
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("Point at a cell")
    cell(page, 11, 5).click()
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("it → book")
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_contain_text("it → this")
    page.keyboard.press("Escape")
    expect(sentence).to_contain_text("Point at a cell")


def test_the_picture_shows_the_pair_on_hover(goto: Open) -> None:
    page = goto(IT_BOOK + "&view=picture")
    plot = box_of(page.locator(".js-plotly-plot .nsewdrag"))
    page.mouse.move(
        plot["x"] + plot["width"] * 4.5 / 13, plot["y"] + plot["height"] * 10.5 / 13, steps=4
    )
    expect(page.locator(".hoverlayer")).to_contain_text("it → book")
    expect(page.locator(".hoverlayer")).to_contain_text("0.932, L4 H2")


def test_the_saved_file_holds_exactly_what_is_shown(goto: Open, tmp_path: Path) -> None:
    page = goto(IT_BOOK + "&hide=1&renorm=1")
    save_file(page, "Download CSV", tmp_path / "attention.csv")
    rows = list(csv.reader((tmp_path / "attention.csv").open(encoding="utf-8")))
    assert len(rows) == 12
    assert page.get_by_role("gridcell").count() == 11 * 11
    assert rows[0][1:4] == ["oh", ",", "this"]
    assert cell(page, 10, 4).inner_text() == f"{float(rows[10][4]):.3f}"
    assert sum(float(value) for value in rows[10][1:]) == pytest.approx(1, abs=1e-4)


def test_a_long_text_draws_only_the_cells_in_view(goto: Open) -> None:
    page = goto("/heatmap?text=" + quote("the book and " * 300))
    expect_table(page, "^attention of layer 6, mean of 12 heads, 512 by 512 tokens$")
    expect(page.get_by_text("390 tokens were cut")).to_be_visible()
    assert page.get_by_role("gridcell").count() < 3000
    page.get_by_role("grid").evaluate("grid => grid.scrollTo(1e6, 1e6)")
    expect(cell(page, 512, 512)).to_be_visible()


def test_text_and_choices_survive_a_change_of_page(goto: Open) -> None:
    page = goto("/heatmap?text=The%20brown%20capybara%20is%20sleeping%20now.&layer=2&head=max")
    page.get_by_role("link", name="Home").click()
    settle(page)
    expect(page.locator(".chips")).to_contain_text("##bara")
    page.get_by_role("link", name="Heatmap table").first.click()
    settle(page)
    expect_table(page, "layer 2, maximum of 12 heads")
    page.get_by_text("Try this").click()
    page.get_by_role("button", name="One head of a middle layer").click()
    expect_table(page, "L4 H")
