"""The heatmap table in the browser: links, hover, keys, pictures, files."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator

IT_BOOK = "/heatmap?text=Oh%2C%20this%20book%3F%20I%27ve%20enjoyed%20it.&layer=4&head=2"


def cell(page: Page, row: int, column: int) -> Locator:
    return page.locator(f'[role=gridcell][aria-rowindex="{row}"][aria-colindex="{column}"]')


def address(page: Page) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)


def test_a_link_opens_the_head_it_names(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK)
    expect(page.get_by_role("grid")).to_have_attribute(
        "aria-label", "attention of L4 H2, 13 by 13 tokens"
    )
    expect(cell(page, 11, 5)).to_have_text("0.932")


def test_the_address_holds_the_whole_state(goto: Callable[..., Page]) -> None:
    page = goto("/heatmap")
    page.wait_for_url(re.compile("layer=6"))
    state = address(page)
    assert state["model"] == "bundled/minilm"
    assert state["text"] == "Oh, this book? I've enjoyed it."
    assert (state["layer"], state["head"], state["view"]) == ("6", "mean", "table")


def test_a_chosen_layer_reaches_the_address_and_back_returns(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK)
    choose(page, "Layer", "layer 1")
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("L1 H2"))
    page.wait_for_url(re.compile("layer=1"))
    page.go_back()
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("L4 H2"))


def test_back_undoes_a_switch(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK)
    page.wait_for_url(re.compile("hide=0"))
    page.get_by_text("Hide special tokens").click()
    settle(page)
    page.wait_for_url(re.compile("hide=1"))
    expect(page.get_by_role("gridcell")).to_have_count(11 * 11)
    page.go_back()
    expect(page.get_by_role("gridcell")).to_have_count(13 * 13)


def test_hovering_a_cell_reads_it_out(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK)
    cell(page, 11, 5).hover()
    expect(page.locator(".sentence")).to_have_text("it → book  0.932, L4 H2")
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("Point at a cell")


def test_a_clicked_cell_is_held_until_escape(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK)
    cell(page, 11, 5).click()
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("it → book")
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".sentence")).to_contain_text("it → this")
    page.keyboard.press("Escape")
    expect(page.locator(".sentence")).to_contain_text("Point at a cell")


def test_the_picture_shows_the_pair_on_hover(goto: Callable[..., Page]) -> None:
    page = goto(IT_BOOK + "&view=picture")
    plot = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    assert plot is not None
    page.mouse.move(
        plot["x"] + plot["width"] * 4.5 / 13, plot["y"] + plot["height"] * 10.5 / 13, steps=4
    )
    expect(page.locator(".hoverlayer")).to_contain_text("it → book")
    expect(page.locator(".hoverlayer")).to_contain_text("0.932, L4 H2")


def test_the_saved_file_holds_exactly_what_is_shown(
    goto: Callable[..., Page], tmp_path: Path
) -> None:
    page = goto(IT_BOOK + "&hide=1&renorm=1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "attention.csv")
    rows = list(csv.reader((tmp_path / "attention.csv").open(encoding="utf-8")))
    shown = page.get_by_role("gridcell").count()
    assert len(rows) == 12
    assert shown == 11 * 11
    assert rows[0][1:4] == ["oh", ",", "this"]
    assert cell(page, 10, 4).inner_text() == f"{float(rows[10][4]):.3f}"
    assert sum(float(value) for value in rows[10][1:]) == pytest.approx(1, abs=1e-4)


def test_a_preset_sets_the_controls(goto: Callable[..., Page]) -> None:
    page = goto("/heatmap")
    page.get_by_text("Try this").click()
    page.get_by_role("button", name="One head of a middle layer").click()
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("L4 H2"))


def test_a_long_text_draws_only_the_cells_in_view(goto: Callable[..., Page]) -> None:
    page = goto("/heatmap?text=" + quote("the book and " * 300))
    expect(page.get_by_role("grid")).to_have_attribute(
        "aria-label", "attention of layer 6, mean of 12 heads, 512 by 512 tokens"
    )
    expect(page.get_by_text("390 tokens were cut")).to_be_visible()
    assert page.get_by_role("gridcell").count() < 3000
    page.get_by_role("grid").evaluate("grid => grid.scrollTo(1e6, 1e6)")
    expect(cell(page, 512, 512)).to_be_visible()


def test_text_and_choices_survive_a_change_of_page(goto: Callable[..., Page]) -> None:
    page = goto("/heatmap?text=The%20brown%20capybara%20is%20sleeping%20now.&layer=2&head=max")
    page.get_by_role("link", name="Home").click()
    settle(page)
    expect(page.locator(".chips")).to_contain_text("##bara")
    page.get_by_role("link", name="Heatmap table").first.click()
    settle(page)
    expect(page.get_by_role("grid")).to_have_attribute(
        "aria-label", re.compile("layer 2, maximum of 12 heads")
    )
